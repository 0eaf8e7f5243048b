import Server
import Sockets
import TestSupport
import Wire

/// An application on two loops that runs during a test.
struct TestServer: Sendable {
    let application: Application
    let endpoint: ClientEndpoint

    /// An error of a handler that the server doesn't know.
    struct UnknownError: Error {}

    /// Runs the body with plain routes, and changes some of the patient limits.
    static func withLimits(
        edge: EdgePolicy = EdgePolicy(), _ set: (inout ServerLimits) -> Void,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var limits = ServerLimits.patient
        set(&limits)
        try await run(limits: limits, edge: edge, routes: { $0.addPlain() }, body)
    }

    static func run(
        at address: String = "127.0.0.1", limits: ServerLimits = ServerLimits.patient, edge: EdgePolicy = EdgePolicy(),
        tls: TLSContext? = nil, routes: (RoutesBuilder) -> Void, _ body: (TestServer) async throws -> Void
    ) async throws {
        let application = Application(
            on: try EventLoopGroup(count: 2), limits: limits, edge: edge, tls: tls,
            responder: Responder(
                mapError: { Abort(.serviceUnavailable, code: "mapped", reason: "mapped: \($0)") }, routes: routes))
        do {
            let address =
                address.hasPrefix("/")
                ? try SocketAddress(path: address) : try SocketAddress.resolve(host: address, port: 0)[0]
            let bound = try await application.listen(on: [ServerEndpoint(address, speaksTLS: tls != nil)])
            guard let endpoint = bound.first.flatMap({ ClientEndpoint($0.address.description) }) else {
                throw ClientFailure.misuse("\(bound)")
            }
            try await body(TestServer(application: application, endpoint: endpoint))
        } catch {
            await application.stop()
            throw error
        }
        await application.stop()
    }

    func client() async throws -> HTTPTestClient {
        try await HTTPTestClient.connect(to: endpoint)
    }

    func connection(receiveBuffer: Int32? = nil) async throws -> RawConnection {
        try await RawConnection.connect(to: endpoint, receiveBuffer: receiveBuffer)
    }

    /// Waits until `condition` holds, checking after each round through the loops. For states that aren't reported.
    func until(_ what: String, _ condition: (LoopCounters) -> Bool) async throws {
        let deadline = ContinuousClock.now + Deadline.standard
        while true {
            let counters = await application.counters()
            if condition(counters) { return }
            guard ContinuousClock.now < deadline else {
                throw ClientFailure.timedOut(
                    waitingFor: what, after: Deadline.standard,
                    received: "\(counters), \(application.openConnections) open")
            }
        }
    }

    func untilConnections(_ count: Int) async throws {
        try await until("\(count) connections") { _ in application.openConnections == count }
    }
}

extension RoutesBuilder {
    /// Adds handlers of both kinds that answer with the request's parameter.
    func addPlain() {
        get { _ in .text("root") }
        get("now", ":name", immediately: { .text($0.parameters["name"] ?? "") })
        get("later", ":name") { request in
            await Task.yield()
            return .text(request.parameters["name"] ?? "")
        }
        get(
            "big",
            immediately: { request in
                .text(String(repeating: "x", count: Int(request.query("size") ?? "") ?? 0))
            })
        get("dear", cost: 10) { _ in .text("dear") }
        post("registration", registers: true) { _ in Response() }
        // Pays for three, and gives two of them back.
        post("registrations", registers: true) { request in
            guard request.wait(for: .registration, times: 3) == nil else { return Response(.tooManyRequests) }
            request.giveBack(.registration, times: 2)
            return Response()
        }
        post("echo") { Response(.ok, body: .bytes($0.body)) }
    }
}
