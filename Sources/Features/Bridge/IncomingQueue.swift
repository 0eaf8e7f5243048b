import AMQP

/// What has come from the broker and isn't dealt with yet, in order. The broker bounds it: so many at a time.
struct IncomingQueue: Sendable {
    enum Step: Equatable {
        case take(AMQPDelivery, attempt: Int)
        case wait
        case end
    }

    private var deliveries: [AMQPDelivery] = []
    /// At the first of them.
    private var attempts = 0
    private(set) var isStopping = false

    mutating func append(_ delivery: AMQPDelivery) { deliveries.append(delivery) }

    /// The connection was lost: all of it comes again.
    mutating func lost() {
        deliveries.removeAll()
        attempts = 0
    }

    mutating func stop() { isStopping = true }

    /// It wasn't the first one's fault.
    mutating func wasNoAttempt() { attempts = max(0, attempts - 1) }

    /// The first stays until it is ``finished(_:)``.
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

/// What becomes of a message that was to be stored.
enum Settlement: Equatable {
    /// The broker may forget it.
    case acknowledged(BridgeMetrics.Receiving)
    case rejected(RejectionReason)
    /// It is tried again, some times.
    case again
    /// It is tried again, however often: the database is away, or being changed.
    case later
}
