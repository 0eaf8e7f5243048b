package import AMQP

extension Configuration {
    /// Returns the settings of connections to the configured RabbitMQ server; `nil` if there is none. The value may
    /// contain a password and must not be logged.
    ///
    /// - Parameter name: The name that the broker shows in its list of connections.
    package func broker(name: String) -> AMQPConfiguration? {
        guard let amqpURL else { return nil }
        var broker = AMQPConfiguration(url: amqpURL, name: name)
        // Without `--amqp-ca`, the system's certificate authorities are used.
        if let amqpCAFile { broker.authorities = amqpCAFile }

        return broker
    }
}
