import Basics

/// An instant that a ``TimerQueue`` can sort.
protocol TimerInstant {
    func isBefore(_ other: Self) -> Bool
}

extension MonotonicTime: TimerInstant {
    /// The operator `<`, compiled into this module, so that sorting calls no code of other modules.
    @inline(__always)
    func isBefore(_ other: MonotonicTime) -> Bool { nanoseconds < other.nanoseconds }
}

/// A binary heap of deadlines with their keys.
///
/// A value without a clock. Moving a deadline doesn't remove its entry. When the entry is due, the object compares it
/// with its present deadline and may set a new one. Every message moves a deadline to a later time, so this must not
/// change the heap.
struct TimerQueue<Instant: TimerInstant, Key> {
    struct Entry {
        let deadline: Instant
        let key: Key
    }

    private var heap: [Entry] = []

    var earliest: Instant? { heap.first?.deadline }
    var count: Int { heap.count }

    /// Inserts an entry. O(log n).
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

    /// Removes and returns the earliest entry if it is due at `now`. O(log n).
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

/// A timer that can be cancelled with ``Reactor/cancel(_:)``.
package struct TimerID: Hashable, Sendable {
    let number: UInt32
}
