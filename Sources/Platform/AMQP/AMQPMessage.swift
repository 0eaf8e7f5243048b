/// A message for an exchange.
package struct AMQPMessage: Sendable, Equatable {
    package var exchange: String
    /// The routing key, of at most 255 bytes.
    package var routingKey: String
    /// Further routing keys. A queue gets the message only once, even if several keys match. Receivers don't see these
    /// keys.
    package var furtherKeys: [String] = []
    package var properties: AMQPProperties
    package var body: [UInt8]

    package init(to exchange: String, key: String, _ body: [UInt8], properties: AMQPProperties = AMQPProperties()) {
        self.exchange = exchange
        routingKey = key
        self.properties = properties
        self.body = body
    }
}

/// The properties of a message. Each text has at most 255 bytes.
package struct AMQPProperties: Sendable, Equatable {
    package var contentType: String?
    package var messageID: String?
    package var appID: String?
    /// Whether a durable queue keeps the message on disk.
    package var isPersistent: Bool

    package init(
        contentType: String? = nil, messageID: String? = nil, appID: String? = nil, isPersistent: Bool = false
    ) {
        self.contentType = contentType
        self.messageID = messageID
        self.appID = appID
        self.isPersistent = isPersistent
    }
}

/// A message from a queue.
package struct AMQPDelivery: Sendable, Equatable {
    /// The number of the connection that received the message. The message's tag is valid only on that connection.
    let connection: Int
    let tag: UInt64
    /// Whether the message may have been delivered before.
    package let isRedelivered: Bool
    package let exchange: String
    package let routingKey: String
    package internal(set) var properties = AMQPProperties()
    /// The content, or `nil` if it was longer than ``AMQPConfiguration/longestBody``.
    package internal(set) var body: [UInt8]? = []
}
