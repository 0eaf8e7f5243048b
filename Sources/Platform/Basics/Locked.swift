import Glibc

/// A value that one thread has at a time. For what is short and never waits; whoever may wait is an actor.
///
/// `Synchronization.Mutex` would do, but ThreadSanitizer doesn't see that it locks, and takes each use for a race (Swift 6.0 on Linux).
///
/// `@unchecked Sendable` holds because the value is reached under the mutex only, and comes and goes as `sending`: nobody keeps a
/// reference to what is in it.
package final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    /// A place that doesn't move, as the C library wants it.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        // Without attributes it can't fail on Linux.
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Calls `body` with the value, on this thread. `body` must not come back here: it would wait for itself.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
