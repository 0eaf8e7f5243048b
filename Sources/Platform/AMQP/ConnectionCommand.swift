/// What a connection's thread is asked to do.
enum ConnectionCommand: Sendable {
    typealias Outcome = Result<Void, AMQPError>
    typealias Caller = CheckedContinuation<Outcome, Never>

    case publish([AMQPMessage], Caller)
    case acknowledge(AMQPDelivery)
    case reject(AMQPDelivery, isPutBack: Bool)
    /// Declares again what the connection began with.
    case declare
    /// The connection is made anew.
    case reconnect(reason: String)

    /// Whoever waits for it goes on.
    func fail(_ error: AMQPError) {
        switch self {
        case .publish(_, let caller): caller.resume(returning: .failure(error))
        case .acknowledge, .reject, .declare, .reconnect: break
        }
    }
}
