import Basics

/// What a ``TimerQueue`` can keep in order.
protocol TimerInstant {
    func isBefore(_ other: Self) -> Bool
}

extension MonotonicTime: TimerInstant {
    /// The same as `<`, compiled into this module: whoever sorts timers shouldn't call another module for it.
    @inline(__always)
    func isBefore(_ other: MonotonicTime) -> Bool { nanoseconds < other.nanoseconds }
}

/// Instants in order: a binary heap of deadlines, each with the key of whom it concerns.
///
/// A value without a clock. Entries are not removed when a deadline moves; whoever is woken compares the entry with
/// the deadline that it has now, and asks again. So pushing a deadline back, which each message of each connection
/// does, touches no heap at all.
struct TimerQueue<Instant: TimerInstant, Key> {
    struct Entry {
        let deadline: Instant
        let key: Key
    }

    private var heap: [Entry] = []

    var earliest: Instant? { heap.first?.deadline }
    var count: Int { heap.count }

    /// O(log n).
    mutating func insert(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline.isBefore(heap[parent].deadline) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest entry if it is due at `now`. O(log n).
    mutating func popDue(at now: Instant) -> Entry? {
        guard let first = heap.first, !now.isBefore(first.deadline) else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown()
        }
        return first
    }

    mutating func removeAll() {
        heap = []
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count {
                if heap[child].deadline.isBefore(heap[least].deadline) { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

/// A timer that was set and can be cancelled, by ``Reactor/cancel(_:)``.
package struct TimerID: Hashable, Sendable {
    let number: UInt32
}
