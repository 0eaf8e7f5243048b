/// Why a call didn't do what it was to. Its words are for a log: they name what the broker or the system said, and no password.
package enum AMQPError: Error, Sendable, Equatable, CustomStringConvertible {
    /// librabbitmq isn't installed, or too old.
    case libraryMissing(String)
    /// There is no connection, or it was lost meanwhile: whether the broker has done it isn't known.
    case away(String)
    /// The broker said no: it takes nothing at present, or has no such thing, or allows it not.
    case refused(String)
    /// The messages at these places of what was published are missing in a queue that takes no more; all other queues have them, and
    /// the other messages have got everywhere.
    case rejected(places: [Int])

    package var message: String {
        switch self {
        case .libraryMissing(let message), .away(let message), .refused(let message): message
        case .rejected(let places): "a queue doesn't take \(places.count) of the messages"
        }
    }

    package var description: String { message }
}
