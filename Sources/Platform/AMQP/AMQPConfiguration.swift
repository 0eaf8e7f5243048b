package import Basics

/// The settings of one connection.
package struct AMQPConfiguration: Sendable {
    package var url: AMQPURL
    /// The connection's name in the broker's list of connections.
    package var name: String
    /// The time limit for connecting to the address, for TLS and for the login together. A name lookup has its own
    /// limits.
    package var connectTimeout: Duration = .seconds(5)
    /// The time limit for each request to the broker, such as a declaration, a binding or a confirmation.
    package var callTimeout: Duration = .seconds(5)
    /// The time limit for sending to a broker that doesn't read. After that, the message is refused.
    package var sendTimeout: Duration = .seconds(1)
    /// The interval of heartbeats, in whole seconds. If the broker is silent for two intervals, the connection counts
    /// as lost.
    package var heartbeat: Duration = .seconds(10)
    /// The interval at which the connection's declarations are repeated. This restores exchanges and bindings that were
    /// deleted. `nil` means that only a new connection declares. Use `nil` for a connection that publishes, because a
    /// broker with an alarm doesn't read from it.
    package var declaresEvery: Duration?
    /// The waits between attempts to connect.
    package var backoff = Backoff(minimum: .milliseconds(100), maximum: .seconds(2))
    /// The maximum number of bytes of a received message's content. Longer content is dropped.
    package var longestBody = 16_777_216
    /// A PEM file of the certificate authorities for the broker's certificate.
    package var authorities = "/etc/ssl/certs/ca-certificates.crt"

    package init(url: AMQPURL, name: String) {
        self.url = url
        self.name = name
    }
}
