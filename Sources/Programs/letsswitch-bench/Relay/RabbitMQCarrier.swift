import AMQP
// In a whole-module build, `timeval` comes from CLinux.
import CLinux
import CRabbitMQ

/// A bare client of RabbitMQ, with librabbitmq. It has a topic exchange, and each client has a queue and two
/// connections, like the daemons. Each room has its own message, which goes to all others.
final class RabbitMQCarrier: Carrier {
    private static let channel: amqp_channel_t = 1
    private static let exchange = "bench"
    private static var none: amqp_table_t { amqp_table_t(num_entries: 0, entries: nil) }

    private let library: RabbitMQLibrary
    private let publishing: amqp_connection_state_t
    private let consuming: amqp_connection_state_t
    private let key: String
    let sockets: [Int32]
    /// Always `false`, because librabbitmq blocks while a message can't be sent.
    let isSending = false
    let mostEntries = 1
    /// The number that makes a message of one room 47 bytes long, like the message of a daemon.
    let headerBytes = 15

    /// - Parameters:
    ///   - number: The client's index, from 0 to `count` - 1.
    ///   - port: The port of the broker.
    init(number: Int, of count: Int, port: UInt16) throws(BenchFailure) {
        do throws(AMQPError) {
            library = try RabbitMQLibrary.load()
        } catch {
            throw BenchFailure(error.message)
        }
        key = "from.\(number)"
        publishing = try Self.connect(port, library)
        consuming = try Self.connect(port, library)
        // The connection for publishing is only written to, so it isn't watched.
        sockets = [library.descriptor(consuming)]
        try declare(from: (0..<count).filter { $0 != number }.map { "from.\($0)" })
    }

    deinit {
        for connection in [publishing, consuming] { _ = library.destroyConnection(connection) }
    }

    private static func connect(
        _ port: UInt16, _ library: RabbitMQLibrary
    ) throws(BenchFailure) -> amqp_connection_state_t {
        guard let connection = library.newConnection(), let socket = library.newSocket(connection) else {
            throw BenchFailure("out of memory")
        }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        let status = library.open(socket, "127.0.0.1", Int32(port), &limit)
        guard status == AMQP_STATUS_OK.rawValue else { throw BenchFailure("the broker: \(library.describe(status))") }
        let reply = withUnsafePointer(to: none) { properties in
            amqp_login_plain(
                library.login, connection, "/", Int32(channel), 131_072, 0, properties, "guest", "guest")
        }
        guard reply.reply_type == AMQP_RESPONSE_NORMAL, library.openChannel(connection, channel) != nil else {
            throw BenchFailure("the broker doesn't let us in")
        }
        return connection
    }

    private func declare(from keys: [String]) throws(BenchFailure) {
        let exchanged = Self.withBytes(Self.exchange) { exchange in
            Self.withBytes("topic") {
                library.declareExchange(consuming, Self.channel, exchange, $0, 0, 0, 0, 0, Self.none)
            }
        }
        let nameless = amqp_bytes_t(len: 0, bytes: nil)
        let queued = library.declareQueue(consuming, Self.channel, nameless, 0, 0, 1, 1, Self.none)
        var done = exchanged != nil && queued != nil
        for key in keys where done {
            done = Self.withBytes(Self.exchange) { exchange in
                Self.withBytes(key) { library.bind(consuming, Self.channel, nameless, exchange, $0, Self.none) != nil }
            }
        }
        // Consumes without acknowledgements.
        guard done, library.consume(consuming, Self.channel, nameless, nameless, 0, 1, 0, Self.none) != nil else {
            throw BenchFailure("the broker doesn't declare what it is asked for")
        }
    }

    private static func withBytes<Value>(_ text: String, _ body: (amqp_bytes_t) -> Value) -> Value {
        var text = text
        return text.withUTF8 { body(bytes($0.baseAddress, $0.count)) }
    }

    /// Returns bytes for librabbitmq, which only reads them.
    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> amqp_bytes_t {
        amqp_bytes_t(len: count, bytes: UnsafeMutableRawPointer(mutating: start))
    }

    func send(_ payloads: [[UInt8]]) throws(BenchFailure) {
        for payload in payloads {
            let status = Self.withBytes(Self.exchange) { exchange in
                Self.withBytes(key) { key in
                    payload.withUnsafeBytes {
                        library.publish(
                            publishing, Self.channel, exchange, key, 0, 0, nil, Self.bytes($0.baseAddress, $0.count))
                    }
                }
            }
            guard status == AMQP_STATUS_OK.rawValue else {
                throw BenchFailure("publishing: \(library.describe(status))")
            }
        }
    }

    func ready(_ socket: Int32, receive: ([UInt8]) throws(BenchFailure) -> Void) throws(BenchFailure) {
        defer { library.releaseBuffers(consuming) }
        while true {
            var frame = amqp_frame_t()
            var atOnce = timeval(tv_sec: 0, tv_usec: 0)
            let status = library.nextFrame(consuming, &frame, &atOnce)
            if status == AMQP_STATUS_TIMEOUT.rawValue { return }
            guard status == AMQP_STATUS_OK.rawValue else {
                throw BenchFailure("consuming: \(library.describe(status))")
            }
            // A short message has one body frame. The frames before it aren't needed.
            guard Int32(frame.frame_type) == AMQP_FRAME_BODY else { continue }
            let body = frame.payload.body_fragment
            try receive(Array(UnsafeRawBufferPointer(start: body.bytes, count: body.len)))
        }
    }
}
