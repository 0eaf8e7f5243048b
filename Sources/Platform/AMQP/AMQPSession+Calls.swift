import Basics
import CRabbitMQ

// The requests to a broker on one connection.
extension AMQPSession {
    func declare(_ declaration: AMQPDeclaration) throws(AMQPError) {
        switch declaration {
        case .exchange(let exchange): try declare(exchange)
        case .queue(let queue): try declare(queue)
        case .binding(let binding): try bind(binding)
        case .consumption(let queue, let acknowledgement): try consume(queue, acknowledgement)
        case .confirms: try check(library.selectConfirms(connection, Self.channel), "confirms")
        }
    }

    private func declare(_ exchange: AMQPExchange) throws(AMQPError) {
        let done = exchange.name.withAMQPBytes { name in
            exchange.kind.rawValue.withAMQPBytes { kind in
                library.declareExchange(
                    connection, Self.channel, name, kind, 0, exchange.isDurable ? 1 : 0, 0, 0, Self.none)
            }
        }
        try check(done, "the exchange \(exchange.name)")
    }

    private func declare(_ queue: AMQPQueue) throws(AMQPError) {
        let done = queue.name.withAMQPBytes { name in
            Self.withTable(queue.arguments) { arguments in
                library.declareQueue(
                    connection, Self.channel, name, 0, queue.isDurable ? 1 : 0, queue.isExclusive ? 1 : 0,
                    queue.isAutoDeleted ? 1 : 0, arguments)
            }
        }
        try check(UnsafeMutableRawPointer(done), "the queue \(queue.name)")
    }

    private func consume(_ queue: String, _ acknowledgement: AMQPAcknowledgement) throws(AMQPError) {
        if case .explicit(let ahead) = acknowledgement {
            try check(library.limitUnacknowledged(connection, Self.channel, 0, ahead, 0), "the limit of \(ahead)")
        }
        let done = queue.withAMQPBytes { name in
            library.consume(
                connection, Self.channel, name, amqp_bytes_t(len: 0, bytes: nil), 0, acknowledgement == .none ? 1 : 0,
                0,
                Self.none)
        }
        try check(done, "consuming from the queue \(queue)")
    }

    private func bind(_ binding: AMQPBinding) throws(AMQPError) {
        let done = binding.withBytes { library.bind(connection, Self.channel, $0, $1, $2, Self.none) }
        try check(done, "binding \(binding.key)")
    }

    /// Sends a message. The broker answers only if the connection has asked for confirmations.
    func publish(_ message: AMQPMessage) throws(AMQPError) {
        let status = message.exchange.withAMQPBytes { exchange in
            message.routingKey.withAMQPBytes { key in
                message.withProperties { properties in
                    message.body.withUnsafeBytes { body in
                        library.publish(
                            connection, Self.channel, exchange, key, 0, 0, properties, amqp_bytes_t(body))
                    }
                }
            }
        }
        try check(status: status, "publishing")
    }

    func acknowledge(_ tag: UInt64) throws(AMQPError) {
        try check(status: library.acknowledge(connection, Self.channel, tag, 0), "acknowledging")
    }

    func reject(_ tag: UInt64, isPutBack: Bool) throws(AMQPError) {
        try check(status: library.reject(connection, Self.channel, tag, isPutBack ? 1 : 0), "rejecting")
    }
}

extension AMQPQueue {
    /// The arguments of a queue, with RabbitMQ's names.
    fileprivate var arguments: [(StaticString, AMQPField)] {
        var arguments: [(StaticString, AMQPField)] = []
        if let longest { arguments.append(("x-max-length", .integer(longest))) }
        if let mostBytes { arguments.append(("x-max-length-bytes", .integer(mostBytes))) }
        if isSingleConsumer { arguments.append(("x-single-active-consumer", .boolean(true))) }
        return arguments
    }
}

extension AMQPBinding {
    fileprivate func withBytes<Value>(_ body: (amqp_bytes_t, amqp_bytes_t, amqp_bytes_t) -> Value) -> Value {
        queue.withAMQPBytes { queue in
            exchange.withAMQPBytes { exchange in key.withAMQPBytes { body(queue, exchange, $0) } }
        }
    }
}

extension AMQPMessage {
    fileprivate func withProperties<Value>(_ body: (UnsafePointer<amqp_basic_properties_t>) -> Value) -> Value {
        guard !furtherKeys.isEmpty else { return properties.withProperties(headers: nil, body) }
        return AMQPSession.withTexts(furtherKeys) { keys in
            AMQPSession.withTable([("BCC", .array(keys))]) { properties.withProperties(headers: $0, body) }
        }
    }
}

extension AMQPProperties {
    fileprivate func withProperties<Value>(
        headers: amqp_table_t?, _ body: (UnsafePointer<amqp_basic_properties_t>) -> Value
    ) -> Value {
        (contentType ?? "").withAMQPBytes { type in
            (messageID ?? "").withAMQPBytes { id in
                (appID ?? "").withAMQPBytes { app in
                    var properties = amqp_basic_properties_t()
                    properties.delivery_mode = UInt8(
                        (isPersistent ? AMQP_DELIVERY_PERSISTENT : AMQP_DELIVERY_NONPERSISTENT).rawValue)
                    (properties.content_type, properties.message_id, properties.app_id) = (type, id, app)
                    properties._flags =
                        CAMQP_DELIVERY_MODE | (contentType == nil ? 0 : CAMQP_CONTENT_TYPE)
                        | (messageID == nil ? 0 : CAMQP_MESSAGE_ID)
                        | (appID == nil ? 0 : CAMQP_APP_ID)
                    if let headers {
                        properties.headers = headers
                        properties._flags |= CAMQP_HEADERS
                    }
                    return withUnsafePointer(to: properties, body)
                }
            }
        }
    }
}
