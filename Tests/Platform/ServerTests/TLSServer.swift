import Server
import Sockets
import TestSupport

/// A server with TLS and a certificate from the test's own authority.
struct TLSServer {
    let server: TestServer
    let authority: TestAuthority
    var endpoint: ClientEndpoint { server.endpoint }

    static func run(
        limits: ServerLimits = .patient, edge: EdgePolicy = EdgePolicy(),
        routes: (RoutesBuilder) -> Void = { $0.addPlain() },
        _ body: (TLSServer) async throws -> Void
    ) async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        let context = try TLSContext(certificateFile: identity.certificate, keyFile: identity.key)
        try await TestServer.run(limits: limits, edge: edge, tls: context, routes: routes) { server in
            try await body(TLSServer(server: server, authority: authority))
        }
    }

    func tunnel(_ arguments: [String] = []) async throws -> TLSTunnel {
        try await TLSTunnel.connect(to: endpoint, trusting: authority, arguments)
    }

    func untilFailed(_ cause: TLSHandshakeFailure) async throws {
        try await server.until("a handshake that failed: \(cause)") { $0.failedTLSHandshakes == [cause: 1] }
    }
}
