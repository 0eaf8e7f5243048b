#if canImport(Glibc)
    import Basics
    import Glibc
    import Sockets

    /// A call to send that a caller waits for. If the call is cancelled before the sending begins, nothing is sent.
    final class Sending: Sendable {
        private let cancelled = Locked(false)

        var isCancelled: Bool { cancelled.withLock { $0 } }

        func cancel() { cancelled.withLock { $0 = true } }
    }

    /// The connections of a loop by number. Code outside of the loop has only the numbers.
    final class ConnectionTable {
        typealias Reader = CheckedContinuation<Result<[UInt8]?, ClientError>, Never>
        struct Writer {
            let sending: Sending
            let continuation: CheckedContinuation<Result<Void, ClientError>, Never>

            func resume(returning result: Result<Void, ClientError>) { continuation.resume(returning: result) }
        }
        /// A caller that waits for the number of its new connection.
        typealias Opener = Awaited<UInt64>

        private static let key = LoopLocal<ConnectionTable>()

        private let reactor: Reactor
        private var connections: [UInt64: ConnectionState] = [:]
        /// The attempts to connect, by the callers that wait for them.
        private(set) var attempts: [ObjectIdentifier: ConnectingSocket] = [:]
        private var lastNumber: UInt64 = 0

        private init(_ reactor: Reactor) {
            self.reactor = reactor
        }

        static func on(_ reactor: Reactor) -> ConnectionTable {
            key.value(on: reactor) { ConnectionTable(reactor) }
        }

        func connect(to address: SocketAddress, by end: MonotonicTime, _ opener: Opener) {
            let key = ObjectIdentifier(opener)
            do throws(SocketError) {
                attempts[key] = try ConnectingSocket(to: address, on: reactor, within: end - reactor.now) {
                    [self] result in
                    attempts[key] = nil
                    switch result {
                    case .success(let detached): adopt(detached, opener)
                    case .failure(let error): opener.bring(.failure(.unreachable("\(error)")))
                    }
                }
            } catch {
                opener.bring(.failure(.unreachable("\(error)")))
            }
        }

        /// Closes an attempt to connect whose caller doesn't wait any more.
        func giveUp(_ opener: Opener) {
            attempts.removeValue(forKey: ObjectIdentifier(opener))?.close()
        }

        private func adopt(_ detached: DetachedSocket, _ opener: Opener) {
            do throws(SocketError) {
                let socket = try StreamSocket(detached, on: reactor)
                lastNumber += 1
                let number = lastNumber
                connections[number] = ConnectionState(socket)
                // If the caller was cancelled while it waited, it doesn't drop the connection, so the connection is
                // dropped here.
                if !opener.bring(.success(number)) { drop(number) }
            } catch {
                opener.bring(.failure(.unreachable("\(error)")))
            }
        }

        /// Begins to read from a new connection. If there is a TLS context, the TLS handshake comes first.
        func open(
            _ number: UInt64, host: String, tls: TLSClientContext?, by end: MonotonicTime, _ opener: Awaited<Void>
        ) {
            guard let state = connections[number] else {
                opener.bring(.failure(.cancelled))
                return
            }
            state.open(host: host, tls: tls, by: end, opener)
        }

        func read(_ number: UInt64, _ reader: Reader) {
            guard let state = connections[number] else { return reader.resume(returning: .failure(.cancelled)) }
            state.read(reader)
        }

        func send(_ bytes: [UInt8], _ number: UInt64, _ writer: Writer?) {
            guard let state = connections[number] else {
                writer?.resume(returning: .failure(.cancelled))
                return
            }
            state.send(bytes, writer)
        }

        func giveUp(_ sending: Sending, _ number: UInt64) {
            connections[number]?.giveUp(sending)
        }

        func drop(_ number: UInt64) {
            connections.removeValue(forKey: number)?.drop()
        }
    }
#endif
