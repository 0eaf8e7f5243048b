package import Server
import Sockets
import Wire

/// An HTTP server that records requests and answers as the test decides.
package final class HTTPRecorder: Sendable {
    package struct ReceivedRequest: Sendable, Hashable {
        package let method: String
        package let target: String
        /// Header fields with lower-case names.
        package let headers: [String: String]
        package let body: [UInt8]
        /// The request's number, starting with 0.
        package let number: Int

        package func json() throws -> TestJSON { try TestJSON(parsing: body) }
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// The recorder's answer to a request.
    package struct Answer: Sendable {
        let make: @Sendable (ReceivedRequest) async -> Response

        package init(_ make: @escaping @Sendable (ReceivedRequest) async -> Response) {
            self.make = make
        }
    }

    /// The names of the recorded fields: those that this project sends.
    private static let fields: [StaticString] = [
        "authorization", "content-type", "content-encoding", "ttl", "urgency", "topic", "webhook-id",
        "webhook-timestamp", "webhook-signature", "user-agent", "apns-topic", "apns-push-type", "apns-priority",
        "apns-expiration", "apns-id", "apns-collapse-id", "x-test", "host",
    ]

    package let requests = EventRecorder<ReceivedRequest>()
    package let endpoint: ClientEndpoint
    private let application: Application

    private init(_ application: Application, _ endpoint: ClientEndpoint) {
        self.application = application
        self.endpoint = endpoint
    }

    /// Returns `http://127.0.0.1:…`, or with TLS `https://localhost:…`, the name in the certificate.
    package func url(_ path: String = "", speaksTLS: Bool = false) -> String {
        guard case .tcp(let host, let port) = endpoint else { return "" }
        return speaksTLS ? "https://localhost:\(port)\(path)" : "http://\(host):\(port)\(path)"
    }

    /// Serves `POST /`, `POST /hook`, `POST /hook/:name`, `POST /3/device/:name` and `GET /get` during `body`.
    package static func run<Result>(
        identity: TestAuthority.Identity? = nil, answer: Answer = Answer { _ in Response() },
        _ body: (HTTPRecorder) async throws -> Result
    ) async throws -> Result {
        let holder = RecorderHolder()
        let handler: Route.AsyncHandler = { request in await holder.handle(request, answer) }
        let tls = try identity.map { try TLSContext(certificateFile: $0.certificate, keyFile: $0.key) }
        var limits = ServerLimits()
        limits.maxConnectionsPerAddress = 0
        limits.connectionRate = 0
        limits.writeTimeout = .seconds(120)
        var edge = EdgePolicy()
        // Web Push (RFC 8291) sends its content encrypted.
        edge.contentCodings = ["aes128gcm"]
        let responder = Responder(
            mapError: { Abort(.internalServerError, reason: "\($0)") },
            routes: { routes in
                routes.post("", use: handler)
                routes.post("hook", use: handler)
                routes.post("hook", ":name", use: handler)
                routes.post("3", "device", ":name", use: handler)
                routes.get("get", use: handler)
                routes.get("v1", "health", use: handler)
                routes.get("v1", "account", use: handler)
            })
        let application = Application(
            on: try EventLoopGroup(count: 1), limits: limits, edge: edge, tls: tls, responder: responder)
        do {
            let bound = try await application.listen(
                on: [ServerEndpoint(try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0], speaksTLS: tls != nil)])
            guard let endpoint = bound.first.flatMap({ ClientEndpoint($0.address.description) }) else {
                throw ClientFailure.misuse("\(bound)")
            }
            let recorder = HTTPRecorder(application, endpoint)
            holder.requests = recorder.requests
            let result = try await body(recorder)
            await application.stop()
            return result
        } catch {
            await application.stop()
            throw error
        }
    }

    /// Closes the port and all connections.
    package func stop() async { await application.stop() }

    fileprivate static func fields(of request: Request) -> [String: String] {
        var headers: [String: String] = [:]
        for name in fields { headers["\(name)"] = request.head.headers.value(name) }
        return headers
    }
}

/// Counts the requests of a recorder that is being created.
///
/// `@unchecked Sendable`: `requests` is set once, before the server's address is known; the counter has a lock.
private final class RecorderHolder: @unchecked Sendable {
    var requests: EventRecorder<HTTPRecorder.ReceivedRequest>?
    private let counter = RequestCounter()

    func handle(_ request: Request, _ answer: HTTPRecorder.Answer) async -> Response {
        let asked = HTTPRecorder.ReceivedRequest(
            method: request.head.method.name, target: request.head.target, headers: HTTPRecorder.fields(of: request),
            body: request.body, number: await counter.next())
        requests?.append(asked)
        return await answer.make(asked)
    }
}

private actor RequestCounter {
    private var count = 0

    func next() -> Int {
        defer { count += 1 }
        return count
    }
}
