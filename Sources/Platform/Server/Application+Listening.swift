package import Sockets

/// Where new connections come in, and with what they shake hands.
extension Application {
    /// Starts the loops and listens at each endpoint.
    ///
    /// - Returns: The endpoints, with the ports that the kernel chose where 0 was asked for.
    /// - Throws: ``SocketError``; then none of them is listened on.
    package func listen(on endpoints: [ServerEndpoint]) async throws -> [ServerEndpoint] {
        for loop in loops { await loop.start() }
        // All or none: what was bound before one fails is closed as it is let go.
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

    /// Has new connections shake hands with another certificate. Those that are open keep theirs.
    package func replaceTLS(_ context: TLSContext) async {
        for loop in loops {
            await loop.run { self.server(on: $0).tls = context }
        }
    }
}
