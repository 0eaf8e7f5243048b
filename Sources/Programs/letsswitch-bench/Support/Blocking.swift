import Dispatch

/// Blocks the thread until an asynchronous call has returned.
///
/// The benchmark has one thread, because some properties belong to a thread: the processors that it and its children
/// may use, the signals that it blocks, and the life of its children, which end with the thread that started them.
enum Blocking {
    static func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        Task {
            do {
                outcome.result = .success(try await work())
            } catch {
                outcome.result = .failure(error)
            }
            outcome.isThere.signal()
        }
        outcome.isThere.wait()
        guard let result = outcome.result else { throw BenchFailure("nothing came of it") }
        return try result.get()
    }

    // Sendable holds: the result is written before the semaphore is signalled, and read after the wait for the
    // semaphore.
    private final class Outcome<Value: Sendable>: @unchecked Sendable {
        var result: Result<Value, any Error>?
        let isThere = DispatchSemaphore(value: 0)
    }
}
