import Glibc

/// The reason why a test client gave up. If a test throws it, the failure shows what was awaited and what was received
/// instead.
package enum ClientFailure: Error, Equatable, CustomStringConvertible {
    /// The awaited event didn't come in time. `received` shows what came.
    case timedOut(waitingFor: String, after: Duration, received: String)
    /// The peer ended the connection, or the process ended, before the awaited event.
    case ended(waitingFor: String, received: String)
    /// The peer reset the connection (ECONNRESET, EPIPE).
    case reset(waitingFor: String)
    /// The awaiting task was cancelled.
    case cancelled(waitingFor: String)
    /// A system call failed; `code` is its `errno`.
    case system(call: String, code: Int32)
    /// The peer broke a rule, or sent something that the test doesn't expect.
    case violation(String)
    /// The client was used wrongly, or something that it needs isn't installed.
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
