#if canImport(Glibc)
    import Basics
    import Sockets

    extension SocketConnection {
        /// The time after which the next address is tried, while the earlier attempts continue (RFC 8305 §8).
        static let attemptDelay = Duration.milliseconds(250)

        private enum Event {
            /// The delay since the latest attempt is over. `attempts` is the number of attempts at its beginning.
            case late(attempts: Int)
            case ended(attempt: Int, Result<SocketConnection, ClientError>)
        }

        /// Connects to the first address that accepts, without TLS (RFC 8305 §5). Starts with the first address. If
        /// that attempt hasn't succeeded after `delay`, or has failed, it also tries the next address, while the
        /// earlier attempts continue. When a connection opens, the other attempts end.
        ///
        /// - Returns: The connection, and the other addresses: those that weren't tried, and those whose attempts were
        ///   still in progress.
        static func race(
            _ addresses: [SocketAddress], on loop: EventLoop, by end: MonotonicTime, delay: Duration
        ) async throws(ClientError) -> (winner: SocketConnection, others: [SocketAddress]) {
            var tried: Set<Int> = []
            let result = await withTaskGroup(of: Event.self, returning: Result<SocketConnection, ClientError>.self) {
                group in
                defer { group.cancelAll() }
                var begun = 0
                var isNextDue = true
                while true {
                    if isNextDue, begun < addresses.count {
                        let (attempt, address) = (begun, addresses[begun])
                        begun += 1
                        group.addTask { .ended(attempt: attempt, await connect(to: address, on: loop, by: end)) }
                        group.addTask { [begun] in
                            try? await Task.sleep(for: delay)
                            return .late(attempts: begun)
                        }
                    }
                    switch await group.next() {
                    case .late(let attempts)?: isNextDue = attempts == begun
                    case .ended(let attempt, let result)?:
                        tried.insert(attempt)
                        switch result {
                        case .failure(let error) where error != .cancelled && tried.count < addresses.count:
                            isNextDue = true
                        default: return result
                        }
                    case nil: return .failure(.cancelled)
                    }
                }
            }
            let others = addresses.indices.filter { !tried.contains($0) }.map { addresses[$0] }
            return (try result.get(), others)
        }

        private static func connect(
            to address: SocketAddress, on loop: EventLoop, by end: MonotonicTime
        ) async -> Result<SocketConnection, ClientError> {
            let opener = ConnectionTable.Opener()
            do throws(ClientError) {
                let number = try await opener.value {
                    loop.submit { ConnectionTable.on($0).connect(to: address, by: end, opener) }
                }
                return .success(SocketConnection(loop: loop, number: number))
            } catch {
                if error == .cancelled { loop.submit { ConnectionTable.on($0).giveUp(opener) } }
                return .failure(error)
            }
        }
    }
#endif
