/// A message for an exchange.
package struct AMQPMessage: Sendable, Equatable {
    package var exchange: String
    /// At most 255 bytes.
    package var routingKey: String
    /// Further routing keys. Each queue gets the message once. Receivers don't see these keys.
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

/// The properties of a message; texts of at most 255 bytes.
package struct AMQPProperties: Sendable, Equatable {
    package var contentType: String?
    package var messageID: String?
    package var appID: String?
    /// Whether a durable queue keeps it on disk.
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
    /// The connection that received it. Its tag is valid only there.
    let connection: Int
    let tag: UInt64
    /// Whether it may have been delivered before.
    package let isRedelivered: Bool
    package let exchange: String
    package let routingKey: String
    package internal(set) var properties = AMQPProperties()
    /// `nil` if it was longer than ``AMQPConfiguration/longestBody``.
    package internal(set) var body: [UInt8]? = []
}
