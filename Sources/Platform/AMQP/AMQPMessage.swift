/// A message on its way to an exchange.
package struct AMQPMessage: Sendable, Equatable {
    package var exchange: String
    /// At most 255 bytes.
    package var routingKey: String
    /// By these too, and each queue gets it once. Whoever gets it doesn't see them.
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

/// What stands beside a message's content; texts of at most 255 bytes.
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

/// A message that came out of a queue.
package struct AMQPDelivery: Sendable, Equatable {
    /// On which it came: only there is it known by its tag.
    let connection: Int
    let tag: UInt64
    /// It may have been delivered before.
    package let isRedelivered: Bool
    package let exchange: String
    package let routingKey: String
    package internal(set) var properties = AMQPProperties()
    /// `nil` if it was longer than ``AMQPConfiguration/longestBody``.
    package internal(set) var body: [UInt8]? = []
}
