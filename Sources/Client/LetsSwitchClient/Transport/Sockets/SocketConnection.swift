#if canImport(Glibc)
    import Basics
    import Glibc
    import Sockets

    /// A connection to a server, plain or by TLS, for callers that may wait.
    ///
    /// All its state is on the event loop; here is only its number there. It is closed when nobody holds it any more.
    final class SocketConnection: Sendable {
        private let loop: EventLoop
        private let number: UInt64

        fileprivate init(loop: EventLoop, number: UInt64) {
            self.loop = loop
            self.number = number
        }

        deinit {
            drop()
        }

        /// What came since the last call, as soon as there is something; `nil` when the peer sends no more. One reader at a time.
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

        /// Returns when the kernel has all of it. Who is cancelled waits no longer; what has begun to leave leaves all the same, for the
        /// connection is others' too.
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

        /// Sends `bytes` without waiting: an answer to a ping. Nothing happens when so much waits that nobody reads there.
        func sendSoon(_ bytes: [UInt8]) {
            let number = number
            loop.submit { ConnectionTable.on($0).send(bytes, number, nil) }
        }

        /// Closes it at once. Idempotent.
        func drop() {
            let number = number
            loop.submit { ConnectionTable.on($0).drop(number) }
        }

        /// Connects to one of the addresses in turn, and shakes hands. Who is cancelled waits no longer; what has begun ends by itself,
        /// within the limit.
        ///
        /// - Parameter tls: `nil` for a plain connection.
        static func open(
            to addresses: [SocketAddress], host: String, tls: TLSClientContext?, within limit: Duration
        ) async throws(ClientError) -> SocketConnection {
            let loop = try await ClientLoop.shared()
            var failure = ClientError.unreachable("\(host) has no address")
            for address in addresses {
                let opener = ConnectionTable.Opener()
                do throws(ClientError) {
                    let number = try await opener.value {
                        loop.submit { reactor in
                            ConnectionTable.on(reactor).connect(
                                to: address, host: host, tls: tls, within: limit / max(1, addresses.count), opener)
                        }
                    }
                    return SocketConnection(loop: loop, number: number)
                } catch {
                    switch error {
                    // A server that was reached and isn't believed is no reason to ask another.
                    case .untrusted, .cancelled: throw error
                    default: failure = error
                    }
                }
            }
            throw failure
        }
    }

    /// The event loop of all clients in this process, made by the first.
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
