import Access
import ActionCable
import Rooms
import Sockets
import Wire

/// The ales that weren't sent to a subscription yet. A value: they are counted by kind, and those beyond
/// ``CableLimits/waitingAles`` are dropped.
struct WaitingAles {
    /// The counts, without zeros.
    private var counts: [CheerKind: Int] = [:]
    /// The frames of the kinds that were sent before.
    private var frames: [CheerKind: SharedBytes] = [:]

    var isEmpty: Bool { counts.isEmpty }

    /// A kind with waiting ales.
    var first: CheerKind? { counts.first?.key }

    /// - Returns: The number of dropped ales.
    mutating func add(_ count: Int, of kind: CheerKind) -> Int {
        let sum = (counts[kind] ?? 0) + count
        let kept = min(sum, CableLimits.waitingAles)
        if kept > 0 { counts[kind] = kept }
        return sum - kept
    }

    /// Takes at most `most` ales, and at least one.
    mutating func take(_ most: Int, of kind: CheerKind) -> Int {
        guard let count = counts[kind] else { return 0 }
        let taken = min(count, max(1, most))
        counts[kind] = taken < count ? count - taken : nil
        return taken
    }

    // MARK: Sending

    private static let contents = CheerKind.allCases.map { kind in
        CableContent("aleResponse") { data in data.member("kind", kind.name.map { "\($0)" }) }
    }

    /// Takes the ales of a kind that fit into the connection's queue. Their frames are longer than those of `/socket`,
    /// and a peer that reads must not be cut off for others' ales.
    mutating func next(by transport: SubscriptionTransport) -> (frame: SharedBytes, times: Int)? {
        guard let kind = first else { return nil }
        let frame = frame(of: kind, by: transport)
        return (frame, take(CableLimits.backlogBytes / frame.count, of: kind))
    }

    private mutating func frame(of kind: CheerKind, by transport: SubscriptionTransport) -> SharedBytes {
        if let frame = frames[kind] { return frame }
        let frame = transport.sharedFrame(of: Self.contents[Int(kind.rawValue)])
        frames[kind] = frame
        return frame
    }
}
