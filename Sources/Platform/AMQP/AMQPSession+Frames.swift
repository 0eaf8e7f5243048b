import CRabbitMQ
import Glibc

/// A frame that a broker sends without a request.
enum BrokerFrame: Equatable {
    case delivered(AMQPDelivery)
    /// The broker accepts no messages at present.
    case blocked(reason: String)
    case unblocked
    /// The broker confirms a published message by its number. With `multiple`, it also confirms all messages before.
    case confirmed(UInt64, multiple: Bool)
    case rejected(UInt64, multiple: Bool)
}

extension AMQPSession {
    /// The maximum number of frames that are read in a row. After them, the thread does its other work.
    private static let framesAtOnce = 512
    /// The number of frames after which the memory of librabbitmq is released. Until this release, librabbitmq keeps
    /// the content of each frame, up to 128 KiB.
    private static let framesKept = 32

    /// Passes the received frames to `take`, without waiting for more. Also sends heartbeats and checks those of the
    /// broker.
    ///
    /// - Returns: Whether there may be more frames.
    func receive(_ take: (BrokerFrame) -> Void) throws(AMQPError) -> Bool {
        defer { library.releaseBuffers(connection) }
        for _ in 0..<Self.framesAtOnce {
            var frame = amqp_frame_t()
            var atOnce = timeval(tv_sec: 0, tv_usec: 0)
            let status = library.nextFrame(connection, &frame, &atOnce)
            if status == AMQP_STATUS_TIMEOUT.rawValue { return false }
            try check(status: status, "the connection")
            if let frame = try brokerFrame(in: frame) { take(frame) }
            frames += 1
            if frames % Self.framesKept == 0 { library.releaseBuffers(connection) }
        }
        return true
    }

    private func brokerFrame(in frame: amqp_frame_t) throws(AMQPError) -> BrokerFrame? {
        switch Int32(frame.frame_type) {
        case AMQP_FRAME_METHOD: return try brokerFrame(in: frame.payload.method)
        case AMQP_FRAME_HEADER:
            let header = frame.payload.properties
            let properties = header.decoded?.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee
            let message = try assembly.header(AMQPProperties(properties), bodySize: header.body_size)
            return message.map { .delivered($0) }
        case AMQP_FRAME_BODY:
            let part = frame.payload.body_fragment
            let message = try assembly.body(UnsafeRawBufferPointer(start: part.bytes, count: part.len))
            return message.map { .delivered($0) }
        default: return nil
        }
    }

    private func brokerFrame(in method: amqp_method_t) throws(AMQPError) -> BrokerFrame? {
        switch method.id {
        case CAMQP_CONNECTION_CLOSE, CAMQP_CHANNEL_CLOSE:
            throw refusal(method, "the connection was closed")
        case CAMQP_BASIC_CANCEL: throw .unavailable("the queue was deleted")
        case CAMQP_CONNECTION_UNBLOCKED: return .unblocked
        default: break
        }
        guard let decoded = method.decoded else { return nil }
        switch method.id {
        case CAMQP_CONNECTION_BLOCKED:
            let blocked = decoded.assumingMemoryBound(to: amqp_connection_blocked_t.self).pointee
            return .blocked(reason: String(blocked.reason))
        case CAMQP_BASIC_ACK:
            let answer = decoded.assumingMemoryBound(to: amqp_basic_ack_t.self).pointee
            return .confirmed(answer.delivery_tag, multiple: answer.multiple != 0)
        case CAMQP_BASIC_NACK:
            let answer = decoded.assumingMemoryBound(to: amqp_basic_nack_t.self).pointee
            return .rejected(answer.delivery_tag, multiple: answer.multiple != 0)
        case CAMQP_BASIC_DELIVER:
            let delivery = decoded.assumingMemoryBound(to: amqp_basic_deliver_t.self).pointee
            try assembly.begin(
                AMQPDelivery(
                    connection: number, tag: delivery.delivery_tag, isRedelivered: delivery.redelivered != 0,
                    exchange: String(delivery.exchange), routingKey: String(delivery.routing_key)))
            return nil
        // All other frames are answers to earlier requests.
        default: return nil
        }
    }
}

extension AMQPProperties {
    fileprivate init(_ properties: amqp_basic_properties_t?) {
        guard let properties else {
            self.init()
            return
        }
        func text(_ flag: amqp_flags_t, _ bytes: amqp_bytes_t) -> String? {
            properties._flags & flag == 0 ? nil : String(bytes)
        }
        self.init(
            contentType: text(CAMQP_CONTENT_TYPE, properties.content_type),
            messageID: text(CAMQP_MESSAGE_ID, properties.message_id),
            appID: text(CAMQP_APP_ID, properties.app_id),
            isPersistent: properties._flags & CAMQP_DELIVERY_MODE != 0
                && properties.delivery_mode == UInt8(AMQP_DELIVERY_PERSISTENT.rawValue))
    }
}
