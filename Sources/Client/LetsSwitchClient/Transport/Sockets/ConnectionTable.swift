#if canImport(Glibc)
    import Basics
    import Glibc
    import Sockets

    /// A send that a caller waits for. If it is cancelled before it begins, nothing is sent.
    final class Sending: Sendable {
        private let cancelled = Locked(false)

        var isCancelled: Bool { cancelled.withLock { $0 } }

        func cancel() { cancelled.withLock { $0 = true } }
    }

    /// The connections of a loop by number. Code outside of the loop knows only the numbers.
    final class ConnectionTable {
        typealias Reader = CheckedContinuation<Result<[UInt8]?, ClientError>, Never>
        struct Writer {
            let sending: Sending
            let continuation: CheckedContinuation<Result<Void, ClientError>, Never>

            func resume(returning result: Result<Void, ClientError>) { continuation.resume(returning: result) }
        }
        typealias Opener = Awaited<UInt64>

        private static let key = LoopLocal<ConnectionTable>()

        private let reactor: Reactor
        private var connections: [UInt64: ConnectionState] = [:]
        private var lastNumber: UInt64 = 0

        private init(_ reactor: Reactor) {
            self.reactor = reactor
        }

        static func on(_ reactor: Reactor) -> ConnectionTable {
            key.value(on: reactor) { ConnectionTable(reactor) }
        }

        /// - Parameter limit: The time limit for connecting and the TLS handshake together.
        func connect(
            to address: SocketAddress, host: String, tls: TLSClientContext?, within limit: Duration,
            _ opener: Opener
        ) {
            let end = reactor.now + limit
            do throws(SocketError) {
                // The reactor keeps the attempt alive until it ends.
                _ = try ConnectingSocket(to: address, on: reactor, within: limit) { [self] result in
                    switch result {
                    case .success(let detached): adopt(detached, host: host, tls: tls, by: end, opener)
                    case .failure(let error): opener.bring(.failure(.unreachable("\(error)")))
                    }
                }
            } catch {
                opener.bring(.failure(.unreachable("\(error)")))
            }
        }

        private func adopt(
            _ detached: DetachedSocket, host: String, tls: TLSClientContext?, by end: MonotonicTime,
            _ opener: Opener
        ) {
            do throws(SocketError) {
                let socket = try StreamSocket(detached, on: reactor)
                lastNumber += 1
                let number = lastNumber
                let state = ConnectionState(socket, number: number) { [weak self] in self?.connections[number] = nil }
                connections[number] = state
                state.begin(host: host, tls: tls, by: end, opener)
            } catch {
                opener.bring(.failure(.unreachable("\(error)")))
            }
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
