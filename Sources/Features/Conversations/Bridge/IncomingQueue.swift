import AMQP

/// The messages from the broker that aren't handled yet, in order. The broker limits their number.
struct IncomingQueue: Sendable {
    enum Step: Equatable {
        case take(AMQPDelivery, attempt: Int)
        case wait
        case end
    }

    private var deliveries: [AMQPDelivery] = []
    /// The number of attempts to store the first message.
    private var attempts = 0
    private(set) var isStopping = false

    mutating func append(_ delivery: AMQPDelivery) { deliveries.append(delivery) }

    /// Clears the queue after the connection was lost. The broker delivers all its messages again.
    mutating func lost() {
        deliveries.removeAll()
        attempts = 0
    }

    mutating func stop() { isStopping = true }

    /// Uncounts the last attempt, because it didn't fail because of the message.
    mutating func wasNoAttempt() { attempts = max(0, attempts - 1) }

    /// Returns the next step. The first message stays until ``finished(_:)``.
    mutating func next() -> Step {
        guard !isStopping else { return .end }
        guard let first = deliveries.first else { return .wait }
        attempts += 1
        return .take(first, attempt: attempts)
    }

    mutating func finished(_ delivery: AMQPDelivery) {
        guard deliveries.first == delivery else { return }
        deliveries.removeFirst()
        attempts = 0
    }
}

/// The result of an attempt to store a message.
enum Settlement: Equatable {
    /// The message was handled, so the broker may delete it.
    case acknowledged(BridgeMetrics.Receiving)
    case rejected(RejectionReason)
    /// Try again, up to a maximum number of attempts.
    case again
    /// Try again without a limit, because the database is unavailable or being migrated.
    case later
}
