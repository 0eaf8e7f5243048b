package import Sockets

/// Listening sockets and TLS.
extension Application {
    /// Checks that the endpoints are free: binds all of them, and closes the sockets again. Until ``listen(on:)`` is
    /// called, the kernel refuses connections, so a proxy can use another server.
    ///
    /// - Throws: ``SocketError`` of the first endpoint that can't be bound.
    package static func checkEndpoints(_ endpoints: [ServerEndpoint]) throws(SocketError) {
        var listeners: [ListeningSocket] = []
        for endpoint in endpoints { listeners.append(try ListeningSocket(endpoint.address)) }
        for listener in listeners { listener.close() }
    }

    /// Starts the loops and listens at each endpoint.
    ///
    /// - Returns: The endpoints, with the ports that the kernel chose where 0 was requested.
    /// - Throws: ``SocketError``. In that case no endpoint is listening.
    package func listen(on endpoints: [ServerEndpoint]) async throws -> [ServerEndpoint] {
        for loop in loops { await loop.start() }
        // Either all endpoints listen or none: if one fails, the sockets that were bound before are freed, which closes
        // them.
        return try await loops[0].run { reactor in
            let listeners = try endpoints.map { try ListeningSocket($0.address) }
            let server = self.server(on: reactor)
            do {
                for (listener, endpoint) in zip(listeners, endpoints) {
                    try server.listen(with: listener, entrance: Entrance(endpoint, edge), on: reactor)
                }
            } catch {
                server.stopListening()
                throw error
            }
            return zip(listeners, endpoints).map {
                ServerEndpoint(
                    $0.address, speaksTLS: $1.speaksTLS, audience: $1.audience, isBehindProxies: $1.isBehindProxies)
            }
        }
    }

    /// Uses another certificate for new connections. Open connections keep the earlier one.
    package func replaceTLS(_ context: TLSContext) async {
        for loop in loops {
            await loop.run { self.server(on: $0).tls = context }
        }
    }
}
