/// A command for a connection's thread.
enum ConnectionCommand: Sendable {
    typealias Outcome = Result<Void, AMQPError>
    typealias Caller = CheckedContinuation<Outcome, Never>

    case publish([AMQPMessage], Caller)
    case acknowledge(AMQPDelivery)
    case reject(AMQPDelivery, isPutBack: Bool)
    /// Repeats the connection's declarations.
    case declare
    /// Drops the connection and opens a new one.
    case reconnect(reason: String)

    /// Resumes the caller of the command with an error, if a caller waits.
    func fail(_ error: AMQPError) {
        switch self {
        case .publish(_, let caller): caller.resume(returning: .failure(error))
        case .acknowledge, .reject, .declare, .reconnect: break
        }
    }
}
