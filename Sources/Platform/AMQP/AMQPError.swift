/// The reason why a call failed. The text is for a log: it contains messages of the broker or system, and no password.
package enum AMQPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// librabbitmq isn't installed, or is too old.
    case libraryMissing(String)
    /// There is no connection, or it was lost during the call. The outcome is unknown.
    case unavailable(String)
    /// The broker refused: it accepts nothing at present, has no such object, or doesn't permit it.
    case refused(String)
    /// A full queue refused the published messages with these indices. All other queues have them, and the other
    /// messages reached all queues.
    case rejected(places: [Int])

    package var message: String {
        switch self {
        case .libraryMissing(let message), .unavailable(let message), .refused(let message): message
        case .rejected(let places): "a queue rejected \(places.count) of the messages"
        }
    }

    package var description: String { message }
}
