package import Basics

/// How one connection is made and kept.
package struct AMQPConfiguration: Sendable {
    package var url: AMQPURL
    /// Shown by the broker in its list of connections.
    package var name: String
    /// For the address, TCP, TLS and login together; asking a name server has limits of its own.
    package var connectTimeout: Duration = .seconds(5)
    /// For each thing that the broker is asked to do: a declaration, a binding, a confirmation.
    package var callTimeout: Duration = .seconds(5)
    /// How long sending waits for a broker that takes nothing: longer, and what was sent is refused.
    package var sendTimeout: Duration = .seconds(1)
    /// In whole seconds; a broker from which nothing comes for twice as long is taken to be gone.
    package var heartbeat: Duration = .seconds(10)
    /// The time between two declarations of what the connection began with: what somebody has deleted or unbound comes back. `nil`: only
    /// a new connection declares. Not for a connection that publishes: a broker in alarm doesn't read from it.
    package var declaresEvery: Duration?
    /// Between attempts to connect.
    package var backoff = Backoff(minimum: .milliseconds(100), maximum: .seconds(2))
    /// Content of messages that are longer, in bytes, isn't kept.
    package var longestBody = 16_777_216
    /// The authorities that a broker's certificate is judged by: a file in PEM.
    package var authorities = "/etc/ssl/certs/ca-certificates.crt"

    package init(url: AMQPURL, name: String) {
        self.url = url
        self.name = name
    }
}
