import Basics
import CRabbitMQ
import Glibc

/// One connection to a broker through librabbitmq, with one channel. Every call may block up to the configured limit.
/// librabbitmq has no limit for sending, so a caller that sends needs a watchdog. A session is used by one thread, and
/// discarded after the first error.
final class AMQPSession {
    typealias Library = RabbitMQLibrary

    static let channel: Library.Channel = 1
    static var none: amqp_table_t { amqp_table_t(num_entries: 0, entries: nil) }
    /// The size of a frame in bytes: RabbitMQ's default, which every broker accepts.
    private static let frameSize: Int32 = 131_072

    let library: Library
    let configuration: AMQPConfiguration
    /// The session's number, which is different for every session of the connection.
    let number: Int
    let connection: Library.Connection
    /// The descriptor of the socket.
    let descriptor: Int32
    var assembly: MessageAssembly
    /// The number of received frames.
    var frames = 0

    /// Connects. Nothing is asked of the broker before ``logIn()``.
    init(_ configuration: AMQPConfiguration, number: Int) throws(AMQPError) {
        let library = try Library.load()
        guard let connection = library.newConnection() else { throw .unavailable("out of memory") }
        self.library = library
        self.configuration = configuration
        self.number = number
        self.connection = connection
        assembly = MessageAssembly(longestBody: configuration.longestBody)
        do {
            descriptor = try Self.open(connection, configuration, library)
        } catch {
            _ = library.destroyConnection(connection)
            throw error
        }
    }

    /// Closes the socket without notifying the broker.
    deinit {
        _ = library.destroyConnection(connection)
    }

    /// Closes the connection in an orderly way. The broker has `limit` to answer.
    func close(within limit: Duration) {
        var limit = timeval(limit)
        _ = library.setCallTimeout(connection, &limit)
        _ = library.close(connection, AMQP_REPLY_SUCCESS)
    }

    // MARK: - Connecting

    private static func open(
        _ connection: Library.Connection, _ configuration: AMQPConfiguration, _ library: Library
    ) throws(AMQPError) -> Int32 {
        let url = configuration.url
        var limit = timeval(configuration.connectTimeout)
        _ = library.setHandshakeTimeout(connection, &limit)
        var callLimit = timeval(configuration.callTimeout)
        _ = library.setCallTimeout(connection, &callLimit)
        let socket = url.usesTLS ? library.newTLSSocket(connection) : library.newSocket(connection)
        guard let socket else { throw .unavailable("a socket can't be created") }
        if url.usesTLS {
            // librabbitmq checks the certificate and its name by default.
            guard library.setAuthorities(socket, configuration.authorities) == AMQP_STATUS_OK.rawValue,
                library.setTLSVersions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST) == AMQP_STATUS_OK.rawValue
            else { throw .unavailable("the authorities in \(configuration.authorities) can't be read") }
        }
        let status = library.open(socket, url.host, Int32(url.port), &limit)
        guard status == AMQP_STATUS_OK.rawValue else {
            throw .unavailable("\(url) can't be reached: \(library.describe(status))")
        }
        return library.descriptor(connection)
    }

    /// Logs in and opens the channel.
    func logIn() throws(AMQPError) {
        let url = configuration.url
        let heartbeat = Int32(clamping: configuration.heartbeat.components.seconds)
        let reply = withClientProperties { properties in
            amqp_login_plain(
                library.login, connection, url.virtualHost, Int32(Self.channel), Self.frameSize, heartbeat, properties,
                url.user, url.password)
        }
        try check(reply, "logging in to \(url)")
        try check(library.openChannel(connection, Self.channel), "a channel")
    }

    /// Calls `body` with the client's properties: the connection's name and two capabilities. With
    /// `connection.blocked`, the broker notifies the client when it blocks the connection. With
    /// `consumer_cancel_notify`, it notifies the client when a consumer's queue is deleted.
    private func withClientProperties<Value>(_ body: (UnsafePointer<amqp_table_t>) -> Value) -> Value {
        configuration.name.withAMQPBytes { name in
            Self.withTable([
                ("connection.blocked", .boolean(true)), ("consumer_cancel_notify", .boolean(true)),
            ]) { capabilities in
                Self.withTable([("connection_name", .text(name)), ("capabilities", .table(capabilities))]) { table in
                    withUnsafePointer(to: table, body)
                }
            }
        }
    }

    // MARK: - Answers

    /// Throws if a call failed. The result of a successful call isn't needed.
    func check(_ result: UnsafeMutableRawPointer?, _ what: @autoclosure () -> String) throws(AMQPError) {
        guard result == nil else { return }
        try check(library.lastReply(connection), what())
    }

    func check(_ reply: Library.Reply, _ what: @autoclosure () -> String) throws(AMQPError) {
        switch reply.reply_type {
        case AMQP_RESPONSE_NORMAL: return
        case AMQP_RESPONSE_SERVER_EXCEPTION: throw refusal(reply.reply, what())
        case AMQP_RESPONSE_LIBRARY_EXCEPTION:
            throw .unavailable("\(what()) failed: \(library.describe(reply.library_error))")
        default: throw .unavailable("\(what()) failed: the broker has closed the connection")
        }
    }

    func check(status: Int32, _ what: @autoclosure () -> String) throws(AMQPError) {
        guard status != AMQP_STATUS_OK.rawValue else { return }
        throw .unavailable("\(what()) failed: \(library.describe(status))")
    }

    /// Returns the broker's reason for closing the connection or channel, as an error.
    func refusal(_ method: amqp_method_t, _ what: String) -> AMQPError {
        var reason = "no reason given"
        if let decoded = method.decoded {
            switch method.id {
            case CAMQP_CONNECTION_CLOSE:
                let close = decoded.assumingMemoryBound(to: amqp_connection_close_t.self).pointee
                reason = "\(close.reply_code) \(String(close.reply_text))"
            case CAMQP_CHANNEL_CLOSE:
                let close = decoded.assumingMemoryBound(to: amqp_channel_close_t.self).pointee
                reason = "\(close.reply_code) \(String(close.reply_text))"
            default: break
            }
        }
        return .refused("\(what): the broker says \(reason)")
    }
}
