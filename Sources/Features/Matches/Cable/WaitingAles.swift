import Access
import ActionCable
import Rooms
import Sockets
import Wire

/// The ales that weren't sent to a subscription yet, counted by kind. Ales beyond ``CableLimits/waitingAles`` are
/// dropped. A value type.
struct WaitingAles {
    /// The number of ales of each kind. Kinds without ales are absent.
    private var counts: [CheerKind: Int] = [:]
    /// The frames of the kinds that were sent before, for reuse.
    private var frames: [CheerKind: SharedBytes] = [:]

    var isEmpty: Bool { counts.isEmpty }

    /// A kind with waiting ales.
    var first: CheerKind? { counts.first?.key }

    /// Adds ales of a kind.
    ///
    /// - Returns: The number of dropped ales.
    mutating func add(_ count: Int, of kind: CheerKind) -> Int {
        let sum = (counts[kind] ?? 0) + count
        let kept = min(sum, CableLimits.waitingAles)
        if kept > 0 { counts[kind] = kept }
        return sum - kept
    }

    /// Removes at most `most` ales, and at least one.
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

    /// Removes the ales of a kind that fit into the connection's queue. Their frames are longer than those of
    /// `/socket`, and too many ales must not end the connection of a peer that reads.
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
