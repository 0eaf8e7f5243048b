import Server
import Sockets
import TestSupport
import Wire

@testable import LetsSwitch

/// A push service that writes down what it gets, and answers as the test says.
struct PushRecorder: Sendable {
    struct Received: Sendable {
        let path: String
        let headers: [String: String]
        let body: [UInt8]

        func json() throws -> TestJSON { try TestJSON(parsing: body) }
    }

    let endpoint: ClientEndpoint
    /// The newest 10,000.
    let received: EventRecorder<Received>
    let answers: Answers

    /// What is answered to the next requests, in order; `200` when none is left.
    actor Answers {
        private var scripted: [Response] = []
        // With some content: nghttpx ends an answer without any by a frame of its own, which libcurl 7.88 doesn't wait for but resets
        // the stream; and after a thousand of those nghttpx ends the connection. (Apple's answer ends with its head.)
        private var fallback = Response.text("ok")

        func script(_ responses: [Response]) { scripted += responses }

        func always(_ response: Response) { fallback = response }

        func next() -> Response { scripted.isEmpty ? fallback : scripted.removeFirst() }
    }

    static func run(_ body: (PushRecorder) async throws -> Void) async throws {
        let (answers, received) = (Answers(), EventRecorder<Received>())
        let answer: Route.AsyncHandler = { request in
            var headers: [String: String] = [:]
            for (name, value) in request.head.headers { headers[name.lowercased()] = value }
            received.append(Received(path: request.head.target, headers: headers, body: request.body))
            return await answers.next()
        }
        var limits = ServerLimits()
        limits.maxConnectionsPerAddress = 0
        limits.connectionRate = 0
        let application = Application(
            on: try EventLoopGroup(count: 1), limits: limits, mapError: { Abort(.internalServerError, reason: "\($0)") }
        ) { routes in
            routes.post("3", "device", ":token", use: answer)
            routes.post("push", ":id", use: answer)
        }
        do {
            let address = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
            guard let bound = try await application.listen(on: [ServerEndpoint(address)]).first,
                let endpoint = ClientEndpoint(bound.address.description)
            else { throw ClientFailure.misuse("a recorder that listens nowhere") }
            try await body(PushRecorder(endpoint: endpoint, received: received, answers: answers))
        } catch {
            await application.stop()
            throw error
        }
        await application.stop()
    }

    private init(endpoint: ClientEndpoint, received: EventRecorder<Received>, answers: Answers) {
        (self.endpoint, self.answers) = (endpoint, answers)
        self.received = received
    }

    var url: String { "http://\(endpoint.authority)" }

    func next() async throws -> Received {
        try await received.next("a request to the push service")
    }
}
