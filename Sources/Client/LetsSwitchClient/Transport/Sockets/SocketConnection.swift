#if canImport(Glibc)
    import Basics
    import Glibc
    import Sockets

    /// A connection to a server, with or without TLS, for asynchronous callers.
    ///
    /// The connection's state belongs to the event loop. This object has only the number of the connection on that
    /// loop. The connection is closed when this object is released.
    final class SocketConnection: Sendable {
        private let loop: EventLoop
        private let number: UInt64

        init(loop: EventLoop, number: UInt64) {
            self.loop = loop
            self.number = number
        }

        deinit {
            drop()
        }

        /// Returns bytes as soon as some arrive, or `nil` at the end of the peer's data. Only one reader may wait at a
        /// time.
        func receive() async throws(ClientError) -> [UInt8]? {
            let (loop, number) = (loop, number)
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    loop.submit { reactor in
                        ConnectionTable.on(reactor).read(number, continuation)
                    }
                }
            } onCancel: {
                drop()
            }
            return try result.get()
        }

        /// Sends bytes, and returns when the kernel has all of them. A cancelled task stops waiting. If some of its
        /// bytes were sent already, the rest is sent too, because other senders share the connection.
        func send(_ bytes: [UInt8]) async throws(ClientError) {
            let (loop, number) = (loop, number)
            let sending = Sending()
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    loop.submit { reactor in
                        ConnectionTable.on(reactor).send(
                            bytes, number, ConnectionTable.Writer(sending: sending, continuation: continuation))
                    }
                }
            } onCancel: {
                sending.cancel()
                loop.submit { ConnectionTable.on($0).giveUp(sending, number) }
            }
            try result.get()
        }

        /// Sends `bytes`, such as a pong, without waiting. If the server doesn't read and the limit of unsent bytes is
        /// reached, `bytes` are dropped.
        func sendSoon(_ bytes: [UInt8]) {
            let number = number
            loop.submit { ConnectionTable.on($0).send(bytes, number, nil) }
        }

        /// Closes the connection at once. Idempotent.
        func drop() {
            let number = number
            loop.submit { ConnectionTable.on($0).drop(number) }
        }

        /// Connects to the first address that answers, and performs the TLS handshake. If the handshake ends early, or
        /// takes half of the remaining time, the other addresses are tried. All waits end when the task is cancelled.
        ///
        /// - Parameters:
        ///   - tls: The TLS context, or `nil` for a connection without TLS.
        ///   - limit: The time limit for all addresses and handshakes together.
        ///   - delay: The time after which the next address is tried, while the earlier attempts continue.
        static func open(
            to addresses: [SocketAddress], host: String, tls: TLSClientContext?, within limit: Duration,
            delay: Duration = attemptDelay
        ) async throws(ClientError) -> SocketConnection {
            let loop = try await ClientLoop.shared()
            let end = MonotonicTime.now() + limit
            var failure = ClientError.unreachable("\(host) has no IP address")
            var rest = addresses
            while !rest.isEmpty {
                let connection: SocketConnection
                (connection, rest) = try await race(rest, on: loop, by: end, delay: delay)
                let now = MonotonicTime.now()
                do throws(ClientError) {
                    try await connection.begin(host: host, tls: tls, by: rest.isEmpty ? end : now + (end - now) / 2)
                    return connection
                } catch {
                    switch error {
                    // If a server answers but isn't trusted, no other address is tried.
                    case .untrusted, .cancelled: throw error
                    default: failure = error
                    }
                }
            }
            throw failure
        }

        private func begin(host: String, tls: TLSClientContext?, by end: MonotonicTime) async throws(ClientError) {
            let opener = Awaited<Void>()
            try await opener.value { [loop, number] in
                loop.submit { ConnectionTable.on($0).open(number, host: host, tls: tls, by: end, opener) }
            }
        }
    }

    /// The event loop of all clients in this process, created by the first one.
    enum ClientLoop {
        private static let loop = Result { try EventLoop(index: 0, openSockets: SocketCount()) }

        static func shared() async throws(ClientError) -> EventLoop {
            switch loop {
            case .success(let loop):
                await loop.start()
                return loop
            case .failure(let error): throw .unreachable("\(error)")
            }
        }
    }
#endif
