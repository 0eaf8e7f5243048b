import Glibc

/// A value that only one thread uses at a time. It is meant for short work that never waits. Use an actor for other
/// work.
///
/// `Synchronization.Mutex` isn't used because ThreadSanitizer doesn't see its lock and reports every use as a race
/// (Swift 6.0 on Linux).
///
/// `@unchecked Sendable` is safe because the value is used only under the mutex. The value moves in and out as
/// `sending`, so no reference to its content remains outside.
package final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    /// The mutex, in memory that doesn't move, as the C library requires.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        // This can't fail on Linux, because the mutex has no attributes.
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Calls `body` with the value, on the present thread. `body` must not call this function again, because that would
    /// deadlock.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
