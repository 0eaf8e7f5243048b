/// The reason why a call failed. The text is for a log: it contains messages of the broker or the system, and no
/// password.
package enum AMQPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// librabbitmq isn't installed, or is too old.
    case libraryMissing(String)
    /// There is no connection, or the connection was lost during the call. If it was lost during the call, the outcome
    /// is unknown.
    case unavailable(String)
    /// The broker refused the request: it accepts nothing at present, doesn't have such an object, or doesn't permit
    /// the request.
    case refused(String)
    /// The messages with these indices were refused by at least one full queue. All other queues have them. The other
    /// messages reached all their queues.
    case rejected(places: [Int])

    package var message: String {
        switch self {
        case .libraryMissing(let message), .unavailable(let message), .refused(let message): message
        case .rejected(let places): "a queue rejected \(places.count) of the messages"
        }
    }

    package var description: String { message }
}
