package import AMQP

extension Configuration {
    /// How to reach the RabbitMQ server that is set, if there is one. May hold a password: never to be logged.
    ///
    /// - Parameter name: Shown by the broker in its list of connections.
    package func broker(name: String) -> AMQPConfiguration? {
        guard let amqpURL else { return nil }
        var broker = AMQPConfiguration(url: amqpURL, name: name)
        // The system's authorities are what a configuration begins with: without a file of the operator's they stay.
        if let amqpCAFile { broker.authorities = amqpCAFile }

        return broker
    }
}
