import Access
import Basics

/// The ping times of a loop's connections. A connection is pinged every three seconds, together with the connections
/// that were added in the same quarter of a second. A value.
///
/// One timer serves all connections, and stops if there are none. The cost of a ping doesn't depend on the number of
/// connections, and pings are spread over time.
struct PingWheel<Member: AnyObject> {
    /// The position of a member in the wheel. The member stores it, so that its removal is O(1).
    struct Place {
        fileprivate let slot: UInt8
        fileprivate let index: UInt32
    }

    private struct Slot {
        var members: [Member] = []
        /// The time of the next ping, counted in quarters of a second.
        var due: UInt64 = 0
    }

    private static var slotCount: UInt64 { 12 }
    private static var tick: UInt64 { CableLimits.pingInterval.wholeNanoseconds / slotCount }

    private var slots = [Slot](repeating: Slot(), count: Int(Self.slotCount))
    private(set) var count = 0

    init() {}

    /// Adds a member. It is pinged within three seconds, and then every three seconds.
    mutating func insert(_ member: Member, at now: MonotonicTime) -> Place {
        let tick = now.nanoseconds / Self.tick
        let slot = Int(tick % Self.slotCount)
        if slots[slot].members.isEmpty { slots[slot].due = tick + Self.slotCount }
        slots[slot].members.append(member)
        count += 1
        return Place(slot: UInt8(slot), index: UInt32(slots[slot].members.count - 1))
    }

    /// - Returns: The member that was moved to the free position, if there is one.
    mutating func remove(_ place: Place) -> Member? {
        let (slot, index) = (Int(place.slot), Int(place.index))
        guard index < slots[slot].members.count else { return nil }
        count -= 1
        let last = slots[slot].members.removeLast()
        guard index < slots[slot].members.count else { return nil }
        slots[slot].members[index] = last
        return last
    }

    /// Returns the time until the next ping; `nil` without members.
    func delay(at now: MonotonicTime) -> Duration? {
        let due = slots.lazy.filter { !$0.members.isEmpty }.map(\.due).min()
        return due.map { max(.zero, MonotonicTime(nanoseconds: $0 * Self.tick) - now) }
    }

    /// Returns the due members, and schedules them again three seconds later.
    mutating func takeDue(at now: MonotonicTime) -> [Member] {
        let tick = now.nanoseconds / Self.tick
        var due: [Member] = []
        for slot in slots.indices where !slots[slot].members.isEmpty && slots[slot].due <= tick {
            due += slots[slot].members
            // After a long pause of the loop, a member is pinged once.
            while slots[slot].due <= tick { slots[slot].due += Self.slotCount }
        }
        return due
    }

    /// All members.
    var members: [Member] { slots.flatMap(\.members) }
}
