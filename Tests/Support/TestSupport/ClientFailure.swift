import Glibc

/// Why a test client gave up. Thrown out of a test, it fails the test and says what was awaited and what came instead.
package enum ClientFailure: Error, Equatable, CustomStringConvertible {
    /// Nothing sufficient came in time. `received` shows what did come.
    case timedOut(waitingFor: String, after: Duration, received: String)
    /// The peer ended the connection, or the process ended, before `waitingFor` was there.
    case ended(waitingFor: String, received: String)
    /// The peer reset the connection (ECONNRESET, EPIPE).
    case reset(waitingFor: String)
    /// The awaiting task was cancelled.
    case cancelled(waitingFor: String)
    /// A system call failed; `code` is its `errno`.
    case system(call: String, code: Int32)
    /// The peer broke a rule, or sent something else than the test expects.
    case violation(String)
    /// The client was used in a way that it doesn't allow, or something that it needs is not installed.
    case misuse(String)

    package var description: String {
        switch self {
        case .timedOut(let awaited, let duration, let received):
            "waited \(duration) for \(awaited) in vain; received: \(received)"
        case .ended(let awaited, let received):
            "ended while waiting for \(awaited); received: \(received)"
        case .reset(let awaited):
            "the peer reset the connection while waiting for \(awaited)"
        case .cancelled(let awaited):
            "cancelled while waiting for \(awaited)"
        case .system(let call, let code):
            "\(call): \(String(cString: strerror(code))) (errno \(code))"
        case .violation(let what):
            what
        case .misuse(let what):
            what
        }
    }
}
