/// What a connection begins with, each time that it is made, in order.
package enum AMQPDeclaration: Sendable, Equatable {
    case exchange(AMQPExchange)
    case queue(AMQPQueue)
    case binding(AMQPBinding)
    /// From now on what the queue has comes to this connection.
    case consumption(queue: String, AMQPAcknowledgement)
    /// From now on the broker confirms what is published.
    case confirms

    /// Whether the broker accepts it again on the same connection and changes nothing.
    var isRepeatable: Bool {
        switch self {
        case .exchange, .binding: true
        // Without a name it would be one more queue.
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
    /// Empty: the broker makes a name up. Whoever leaves the name of a queue empty then means this one.
    package var name: String
    package var isDurable: Bool
    /// Belongs to the connection, and goes with it.
    package var isExclusive: Bool
    /// Goes with its last consumer.
    package var isAutoDeleted: Bool
    /// One of its consumers at a time gets what it has, the next one when that is gone: so order holds.
    package var isSingleConsumer: Bool
    /// More messages, or more bytes of content, than this: the oldest go.
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

/// A queue gets what an exchange has for a key; in a topic exchange, a pattern.
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
    /// The broker forgets a message when it has sent it.
    case none
    /// It keeps each until ``AMQPConnection/acknowledge(_:)``, and sends so many ahead.
    case explicit(ahead: UInt16)
}
