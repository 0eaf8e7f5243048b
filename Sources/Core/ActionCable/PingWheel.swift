import Access
import Basics

/// When each connection of a loop is pinged: every three seconds, those who came in the same quarter of a second together. A value.
///
/// One timer serves all of it, and sleeps while there is nobody: pings cost the same whoever else is there, and don't all leave in one
/// moment.
struct PingWheel<Member: AnyObject> {
    /// Where a member is: it knows it, so that leaving is O(1).
    struct Place {
        fileprivate let slot: UInt8
        fileprivate let index: UInt32
    }

    private struct Slot {
        var members: [Member] = []
        /// The quarter of a second in which they are pinged next.
        var due: UInt64 = 0
    }

    private static var slotCount: UInt64 { 12 }
    private static var tick: UInt64 { CableLimits.pingInterval.wholeNanoseconds / slotCount }

    private var slots = [Slot](repeating: Slot(), count: Int(Self.slotCount))
    private(set) var count = 0

    init() {}

    /// It is pinged first within three seconds, and then every three.
    mutating func insert(_ member: Member, at now: MonotonicTime) -> Place {
        let tick = now.nanoseconds / Self.tick
        let slot = Int(tick % Self.slotCount)
        if slots[slot].members.isEmpty { slots[slot].due = tick + Self.slotCount }
        slots[slot].members.append(member)
        count += 1
        return Place(slot: UInt8(slot), index: UInt32(slots[slot].members.count - 1))
    }

    /// - Returns: The member that has this place from now on, if one was moved to it.
    mutating func remove(_ place: Place) -> Member? {
        let (slot, index) = (Int(place.slot), Int(place.index))
        guard index < slots[slot].members.count else { return nil }
        count -= 1
        let last = slots[slot].members.removeLast()
        guard index < slots[slot].members.count else { return nil }
        slots[slot].members[index] = last
        return last
    }

    /// How long until somebody is due; `nil` when nobody is there.
    func delay(at now: MonotonicTime) -> Duration? {
        let due = slots.lazy.filter { !$0.members.isEmpty }.map(\.due).min()
        return due.map { max(.zero, MonotonicTime(nanoseconds: $0 * Self.tick) - now) }
    }

    /// Those who are due, who aren't again before three seconds.
    mutating func takeDue(at now: MonotonicTime) -> [Member] {
        let tick = now.nanoseconds / Self.tick
        var due: [Member] = []
        for slot in slots.indices where !slots[slot].members.isEmpty && slots[slot].due <= tick {
            due += slots[slot].members
            // A loop that stood still for long pings once.
            while slots[slot].due <= tick { slots[slot].due += Self.slotCount }
        }
        return due
    }

    /// Everybody.
    var members: [Member] { slots.flatMap(\.members) }
}
