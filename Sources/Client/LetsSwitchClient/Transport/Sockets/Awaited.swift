#if canImport(Glibc)
    import Basics

    /// A value that a thread passes to a waiting task. A task stops waiting when it is cancelled. A value that is
    /// passed later is dropped.
    final class Awaited<Value: Sendable>: Sendable {
        private enum State {
            case idle
            case waiting(CheckedContinuation<Result<Value, ClientError>, Never>)
            case over
        }

        private let state = Locked(State.idle)

        /// Calls `begin` and waits for the value, unless the task is cancelled already. Call this method only once.
        func value(_ begin: () -> Void) async throws(ClientError) -> Value {
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let begins = state.withLock { state in
                        guard case .idle = state else { return false }
                        state = .waiting(continuation)
                        return true
                    }
                    guard begins else { return continuation.resume(returning: .failure(.cancelled)) }
                    begin()
                }
            } onCancel: {
                bring(.failure(.cancelled))
            }
            return try result.get()
        }

        /// - Returns: `false` if no task waits for the value.
        @discardableResult
        func bring(_ result: Result<Value, ClientError>) -> Bool {
            let before = state.withLock { state in
                defer { state = .over }
                return state
            }
            guard case .waiting(let continuation) = before else { return false }
            continuation.resume(returning: result)
            return true
        }
    }
#endif
