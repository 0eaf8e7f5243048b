#if canImport(Glibc)
    import Basics

    /// What another thread brings to a task that waits for it. A task that is cancelled waits no longer, and what is brought then is
    /// for nobody.
    final class Awaited<Value: Sendable>: Sendable {
        private enum State {
            case idle
            case waiting(CheckedContinuation<Result<Value, ClientError>, Never>)
            case over
        }

        private let state = Locked(State.idle)

        /// Has `begin` see to it, unless the task is cancelled already, and waits. To be called once.
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

        /// - Returns: `false` when nobody waits for it.
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
