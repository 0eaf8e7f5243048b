/// A declaration that a connection makes after it opens, in order.
package enum AMQPDeclaration: Sendable, Equatable {
    case exchange(AMQPExchange)
    case queue(AMQPQueue)
    case binding(AMQPBinding)
    /// Starts to consume a queue.
    case consumption(queue: String, AMQPAcknowledgement)
    /// Asks the broker to confirm published messages.
    case confirms

    /// Whether the broker accepts it again on the same connection without a change.
    var isRepeatable: Bool {
        switch self {
        case .exchange, .binding: true
        // Without a name it would declare another queue.
        case .queue(let queue): !queue.name.isEmpty
        case .consumption, .confirms: false
        }
    }
}

package struct AMQPExchange: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case topic, direct, fanout
    }

    package var name: String
    package var kind: Kind
    package var isDurable: Bool

    package init(_ name: String, _ kind: Kind, isDurable: Bool = false) {
        self.name = name
        self.kind = kind
        self.isDurable = isDurable
    }
}

package struct AMQPQueue: Sendable, Equatable {
    /// Empty: the broker chooses a name. An empty queue name in later declarations means this queue.
    package var name: String
    package var isDurable: Bool
    /// Belongs to the connection, and is deleted with it.
    package var isExclusive: Bool
    /// Deleted with its last consumer.
    package var isAutoDeleted: Bool
    /// Only one of its consumers gets messages at a time, so that the order is kept. The next one follows when it has
    /// gone.
    package var isSingleConsumer: Bool
    /// The maximum number of messages, or of bytes. The oldest are dropped beyond it.
    package var longest: Int?
    package var mostBytes: Int?

    package init(
        _ name: String, isDurable: Bool = false, isExclusive: Bool = false, isAutoDeleted: Bool = false,
        isSingleConsumer: Bool = false, longest: Int? = nil, mostBytes: Int? = nil
    ) {
        self.name = name
        self.isDurable = isDurable
        self.isExclusive = isExclusive
        self.isAutoDeleted = isAutoDeleted
        self.isSingleConsumer = isSingleConsumer
        self.longest = longest
        self.mostBytes = mostBytes
    }
}

/// A binding: the queue gets the exchange's messages with this key, or with keys that match the pattern in a topic
/// exchange.
package struct AMQPBinding: Sendable, Equatable {
    package var queue: String
    package var exchange: String
    package var key: String

    package init(queue: String = "", exchange: String, key: String) {
        self.queue = queue
        self.exchange = exchange
        self.key = key
    }
}

package enum AMQPAcknowledgement: Sendable, Equatable {
    /// The broker deletes a message when it has sent it.
    case none
    /// The broker keeps each message until ``AMQPConnection/acknowledge(_:)``, and sends at most `ahead` unacknowledged
    /// ones.
    case explicit(ahead: UInt16)
}
