/// A declaration that a connection makes after it has opened. Declarations are made in order.
package enum AMQPDeclaration: Sendable, Equatable {
    case exchange(AMQPExchange)
    case queue(AMQPQueue)
    case binding(AMQPBinding)
    /// Starts to consume a queue.
    case consumption(queue: String, AMQPAcknowledgement)
    /// Asks the broker to confirm published messages.
    case confirms

    /// Whether the connection may make the declaration again without an effect.
    var isRepeatable: Bool {
        switch self {
        case .exchange, .binding: true
        // A queue without a name isn't repeatable: the broker would create another queue with a new name.
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
    /// The queue's name. If it is empty, the broker chooses a name. An empty queue name in later declarations means
    /// this queue.
    package var name: String
    package var isDurable: Bool
    /// Whether the queue belongs to the connection and is deleted with it.
    package var isExclusive: Bool
    /// Whether the queue is deleted with its last consumer.
    package var isAutoDeleted: Bool
    /// Whether only one consumer gets messages at a time, which keeps their order. When this consumer has gone, another
    /// one gets the messages.
    package var isSingleConsumer: Bool
    /// The maximum number of messages, or of bytes. If there are more, the oldest messages are dropped.
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

/// A binding: the queue gets those messages of the exchange that have this key. In a topic exchange the key may be a
/// pattern.
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
    /// The broker deletes a message as soon as it has sent it.
    case none
    /// The broker keeps each message until ``AMQPConnection/acknowledge(_:)``. At most `ahead` messages may be
    /// unacknowledged at a time.
    case explicit(ahead: UInt16)
}
