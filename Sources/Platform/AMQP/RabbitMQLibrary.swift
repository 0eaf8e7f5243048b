package import CRabbitMQ
package import Glibc

/// librabbitmq, loaded at first use and never unloaded. A daemon without a broker doesn't load it.
///
/// `@unchecked Sendable` is safe because the pointers are constant after loading. Any thread may call librabbitmq's
/// functions, as long as each connection is used by one thread at a time. The benchmark's plain client also uses this
/// type.
package struct RabbitMQLibrary: @unchecked Sendable {
    private static let name = "librabbitmq.so.4"
    /// The oldest supported version: 0.10, the first with timeouts for all calls.
    private static let oldestVersion: UInt32 = 0x00_0A_00_00

    private static let loaded = Result<RabbitMQLibrary, AMQPError> { () throws(AMQPError) in try RabbitMQLibrary() }

    /// Returns the library. The first call loads it, which takes some milliseconds.
    package static func load() throws(AMQPError) -> RabbitMQLibrary {
        try loaded.get()
    }

    package typealias Connection = amqp_connection_state_t
    package typealias Socket = OpaquePointer
    package typealias Channel = amqp_channel_t
    package typealias Bytes = amqp_bytes_t
    package typealias Reply = amqp_rpc_reply_t

    package let version: String
    package let statusText: @convention(c) (Int32) -> UnsafePointer<CChar>?

    package let newConnection: @convention(c) () -> Connection?
    package let destroyConnection: @convention(c) (Connection?) -> Int32
    package let newSocket: @convention(c) (Connection?) -> Socket?
    package let newTLSSocket: @convention(c) (Connection?) -> Socket?
    package let setAuthorities: @convention(c) (Socket?, UnsafePointer<CChar>?) -> Int32
    package let setTLSVersions: @convention(c) (Socket?, amqp_tls_version_t, amqp_tls_version_t) -> Int32
    package let open: @convention(c) (Socket?, UnsafePointer<CChar>?, Int32, UnsafePointer<timeval>?) -> Int32
    package let descriptor: @convention(c) (Connection?) -> Int32
    package let setHandshakeTimeout: @convention(c) (Connection?, UnsafePointer<timeval>?) -> Int32
    package let setCallTimeout: @convention(c) (Connection?, UnsafePointer<timeval>?) -> Int32
    /// A variadic function, so it is called through a function in C.
    package let login: UnsafeMutableRawPointer
    package let close: @convention(c) (Connection?, Int32) -> Reply

    package let lastReply: @convention(c) (Connection?) -> Reply
    package let openChannel: @convention(c) (Connection?, Channel) -> UnsafeMutableRawPointer?
    package let declareExchange:
        @convention(c) (Connection?, Channel, Bytes, Bytes, Int32, Int32, Int32, Int32, amqp_table_t)
            -> UnsafeMutableRawPointer?
    package let declareQueue:
        @convention(c) (Connection?, Channel, Bytes, Int32, Int32, Int32, Int32, amqp_table_t)
            -> UnsafeMutablePointer<amqp_queue_declare_ok_t>?
    package let bind:
        @convention(c) (Connection?, Channel, Bytes, Bytes, Bytes, amqp_table_t) -> UnsafeMutableRawPointer?
    package let limitUnacknowledged:
        @convention(c) (Connection?, Channel, UInt32, UInt16, Int32) -> UnsafeMutableRawPointer?
    package let consume:
        @convention(c) (Connection?, Channel, Bytes, Bytes, Int32, Int32, Int32, amqp_table_t)
            -> UnsafeMutableRawPointer?
    package let selectConfirms: @convention(c) (Connection?, Channel) -> UnsafeMutableRawPointer?

    package let publish:
        @convention(c) (
            Connection?, Channel, Bytes, Bytes, Int32, Int32, UnsafePointer<amqp_basic_properties_t>?, Bytes
        ) -> Int32
    package let acknowledge: @convention(c) (Connection?, Channel, UInt64, Int32) -> Int32
    package let reject: @convention(c) (Connection?, Channel, UInt64, Int32) -> Int32
    package let nextFrame:
        @convention(c) (Connection?, UnsafeMutablePointer<amqp_frame_t>?, UnsafePointer<timeval>?) -> Int32
    package let releaseBuffers: @convention(c) (Connection?) -> Void

    private init() throws(AMQPError) {
        guard let handle = dlopen(Self.name, RTLD_NOW | RTLD_LOCAL) else {
            throw .libraryMissing("librabbitmq is missing: apt-get install librabbitmq4")
        }
        func symbol(_ name: String) throws(AMQPError) -> UnsafeMutableRawPointer {
            guard let symbol = dlsym(handle, name) else {
                throw .libraryMissing("librabbitmq has no \(name): 0.10 or later is needed")
            }
            return symbol
        }
        func function<F>(_ name: String, as type: F.Type = F.self) throws(AMQPError) -> F {
            // A pointer to a C function has the same size as any other pointer (POSIX, dlsym).
            unsafeBitCast(try symbol(name), to: type)
        }
        let number: @convention(c) () -> UInt32 = try function("amqp_version_number")
        let text: @convention(c) () -> UnsafePointer<CChar>? = try function("amqp_version")
        version = text().map { String(cString: $0) } ?? "of an unknown version"
        guard number() >= Self.oldestVersion else {
            throw .libraryMissing("librabbitmq \(version) is too old: 0.10 or later is needed")
        }
        // librabbitmq needn't initialise OpenSSL: either the process has already initialised OpenSSL, or OpenSSL
        // initialises itself.
        let initialisesTLS: @convention(c) (Int32) -> Void = try function("amqp_set_initialize_ssl_library")
        initialisesTLS(0)

        statusText = try function("amqp_error_string2")
        newConnection = try function("amqp_new_connection")
        destroyConnection = try function("amqp_destroy_connection")
        newSocket = try function("amqp_tcp_socket_new")
        newTLSSocket = try function("amqp_ssl_socket_new")
        setAuthorities = try function("amqp_ssl_socket_set_cacert")
        setTLSVersions = try function("amqp_ssl_socket_set_ssl_versions")
        open = try function("amqp_socket_open_noblock")
        descriptor = try function("amqp_get_sockfd")
        setHandshakeTimeout = try function("amqp_set_handshake_timeout")
        setCallTimeout = try function("amqp_set_rpc_timeout")
        login = try symbol("amqp_login_with_properties")
        close = try function("amqp_connection_close")
        lastReply = try function("amqp_get_rpc_reply")
        openChannel = try function("amqp_channel_open")
        declareExchange = try function("amqp_exchange_declare")
        declareQueue = try function("amqp_queue_declare")
        bind = try function("amqp_queue_bind")
        limitUnacknowledged = try function("amqp_basic_qos")
        consume = try function("amqp_basic_consume")
        selectConfirms = try function("amqp_confirm_select")
        publish = try function("amqp_basic_publish")
        acknowledge = try function("amqp_basic_ack")
        reject = try function("amqp_basic_reject")
        nextFrame = try function("amqp_simple_wait_frame_noblock")
        releaseBuffers = try function("amqp_maybe_release_buffers")
    }

    /// Returns the library's text for a status.
    package func describe(_ status: Int32) -> String {
        statusText(status).map { String(cString: $0) } ?? "librabbitmq's error \(status)"
    }
}
