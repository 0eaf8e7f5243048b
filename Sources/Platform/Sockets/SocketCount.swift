import Basics
import Synchronization

/// The number of connected sockets of all event loops that share this count.
package final class SocketCount: Sendable {
    private let value = Atomic<Int>(0)
    /// A buffer of one element is enough: an element only wakes the waiting caller, which then reads the count.
    private let zeros = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    package init() {}

    /// The present number. Any thread may read it.
    package var current: Int { value.load(ordering: .relaxed) }

    /// Waits until no socket is open, or until `limit` has passed. Only one caller may wait at a time.
    ///
    /// - Returns: Whether no socket is open.
    package func waitUntilZero(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        await withTimeout(limit) {
            while current > 0, ContinuousClock.now < deadline {
                var signals = zeros.stream.makeAsyncIterator()
                await signals.next()
                // After a cancellation, every wait would end at once.
                if Task.isCancelled { break }
            }
        } onTimeout: { [zeros] in
            zeros.continuation.yield()
        }
        return current == 0
    }

    func increment() { value.add(1, ordering: .relaxed) }

    func decrement() {
        if value.subtract(1, ordering: .relaxed).newValue == 0 { zeros.continuation.yield() }
    }
}
