#if canImport(Glibc)
    import Dispatch
    import Sockets

    extension SocketConnection {
        /// For connecting and the TLS handshake, by all addresses of a name together.
        private static let connectLimit = Duration.seconds(10)

        /// Connects to a server by its name, and over TLS where its address says so.
        ///
        /// - Parameter authorities: A file in PEM, in place of the system's.
        static func dial(_ server: ServerAddress, authorities: String?) async throws(ClientError) -> SocketConnection {
            let addresses = try await resolve(server)
            var context: TLSClientContext?
            if server.isSecure {
                do { context = try TLSClientContext(authorities: authorities) } catch { throw .untrusted("\(error)") }
            }
            return try await open(to: addresses, host: server.host, tls: context, within: connectLimit)
        }

        /// On a thread that may wait: the system's resolver has no other way, and can't be stopped.
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
