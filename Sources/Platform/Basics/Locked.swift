import Glibc

/// A value that one thread uses at a time. For short work that never waits; use an actor for work that may wait.
///
/// `Synchronization.Mutex` isn't used because ThreadSanitizer doesn't see its lock and reports every use as a race
/// (Swift 6.0 on Linux).
///
/// `@unchecked Sendable` is safe because the value is used only under the mutex, and moves in and out as `sending`, so
/// no reference to its content escapes.
package final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    /// Memory that doesn't move, as the C library requires.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        // Can't fail on Linux without attributes.
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Calls `body` with the value, on this thread. `body` must not call this function again: it would deadlock.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
