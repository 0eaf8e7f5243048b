import Access
import ActionCable
import Rooms
import Sockets
import Wire

/// Ales that a subscription has yet to be sent. A value: they add up by their kind, and beyond ``CableLimits/waitingAles`` they are left out.
struct WaitingAles {
    /// None is zero.
    private var counts: [CheerKind: Int] = [:]
    /// Of those that were sent yet.
    private var frames: [CheerKind: SharedBytes] = [:]

    var isEmpty: Bool { counts.isEmpty }

    /// A kind of which some wait.
    var first: CheerKind? { counts.first?.key }

    /// - Returns: How many are left out.
    mutating func add(_ count: Int, of kind: CheerKind) -> Int {
        let sum = (counts[kind] ?? 0) + count
        let kept = min(sum, CableLimits.waitingAles)
        if kept > 0 { counts[kind] = kept }
        return sum - kept
    }

    /// Takes as many as there are, at most `most` and at least one.
    mutating func take(_ most: Int, of kind: CheerKind) -> Int {
        guard let count = counts[kind] else { return 0 }
        let taken = min(count, max(1, most))
        counts[kind] = taken < count ? count - taken : nil
        return taken
    }

    // MARK: As they are told

    private static let contents = CheerKind.allCases.map { kind in
        CableContent("aleResponse") { data in data.member("kind", kind.name.map { "\($0)" }) }
    }

    /// Takes as many of a kind as leave room in the connection's queue: their frames are longer than those of `/socket`, and whoever reads
    /// is not cut off for what others say.
    mutating func next(by outlet: SubscriptionOutlet) -> (frame: SharedBytes, times: Int)? {
        guard let kind = first else { return nil }
        let frame = frame(of: kind, by: outlet)
        return (frame, take(CableLimits.backlogBytes / frame.count, of: kind))
    }

    private mutating func frame(of kind: CheerKind, by outlet: SubscriptionOutlet) -> SharedBytes {
        if let frame = frames[kind] { return frame }
        let frame = outlet.sharedFrame(of: Self.contents[Int(kind.rawValue)])
        frames[kind] = frame
        return frame
    }
}
