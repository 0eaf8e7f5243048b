#if canImport(Glibc)
    import Dispatch
    import Sockets

    extension SocketConnection {
        /// The time limit for connecting and the TLS handshake. All addresses of a name share it.
        private static let connectLimit = Duration.seconds(10)

        /// Connects to a server by its name, with TLS if its address says so.
        ///
        /// - Parameter authorities: A PEM file with certificate authorities that replace the system's.
        static func dial(_ server: ServerAddress, authorities: String?) async throws(ClientError) -> SocketConnection {
            let addresses = try await resolve(server)
            var context: TLSClientContext?
            if server.isSecure {
                do { context = try TLSClientContext(authorities: authorities) } catch { throw .untrusted("\(error)") }
            }
            return try await open(to: addresses, host: server.host, tls: context, within: connectLimit)
        }

        /// Resolves a name on a separate thread, because the system's resolver blocks and can't be cancelled.
        private static func resolve(_ server: ServerAddress) async throws(ClientError) -> [SocketAddress] {
            let addresses = Awaited<[SocketAddress]>()
            return try await addresses.value {
                DispatchQueue.global().async {
                    do throws(ResolveError) {
                        addresses.bring(.success(try SocketAddress.resolve(host: server.host, port: server.port)))
                    } catch {
                        addresses.bring(.failure(.unreachable("\(error)")))
                    }
                }
            }
        }
    }
#endif
