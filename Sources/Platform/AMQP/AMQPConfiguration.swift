package import Basics

/// The settings of one connection.
package struct AMQPConfiguration: Sendable {
    package var url: AMQPURL
    /// The name in the broker's list of connections.
    package var name: String
    /// For the address, TCP, TLS and login together. A name lookup has its own limits.
    package var connectTimeout: Duration = .seconds(5)
    /// For each request to the broker: a declaration, a binding, a confirmation.
    package var callTimeout: Duration = .seconds(5)
    /// How long sending waits for a broker that doesn't read. After that, the message is refused.
    package var sendTimeout: Duration = .seconds(1)
    /// In whole seconds. A broker that is silent for twice as long counts as gone.
    package var heartbeat: Duration = .seconds(10)
    /// The interval at which the connection's declarations are repeated, so that deleted exchanges and bindings come
    /// back. `nil`: only a new connection declares. Not for a connection that publishes, because a broker with an alarm
    /// doesn't read from it.
    package var declaresEvery: Duration?
    /// The waits between attempts to connect.
    package var backoff = Backoff(minimum: .milliseconds(100), maximum: .seconds(2))
    /// Longer message content, in bytes, isn't kept.
    package var longestBody = 16_777_216
    /// A PEM file of the authorities for the broker's certificate.
    package var authorities = "/etc/ssl/certs/ca-certificates.crt"

    package init(url: AMQPURL, name: String) {
        self.url = url
        self.name = name
    }
}
