import Server
import TestSupport
import Testing
import Wire

@Suite struct RefusalTests {
    private struct Items: RouteCollection {
        func boot(routes: RoutesBuilder) {
            routes.get("item", ":id") { .text("got \($0.parameters["id"] ?? "")") }
            routes.delete("item", ":id") { .text("deleted \($0.parameters["id"] ?? "")") }
            routes.post("item") { _ in Response(.created) }
            routes.get("item", "special") { _ in .text("never: the first route that fits answers") }
        }
    }

    private static let quotes = "a \"quote\", a \\, a tab\t, lines\r\n, \u{1}\u{1F}, ü, 🍺, /"

    private static func withServer(
        limits: ServerLimits = ServerLimits.patient, _ body: (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(limits: limits) { routes in
            routes.addPlain()
            routes.register(collection: Items())
            routes.get("unknown") { _ in throw TestServer.UnknownError() }
            routes.get("unknown", "now", immediately: { _ in throw TestServer.UnknownError() })
            routes.get("abort") { _ in
                throw Abort(
                    .forbidden, code: "room_not_open", reason: quotes,
                    headers: [HTTPField("Retry-After", "7")], details: [("opensAt", quotes)])
            }
            routes.get("abort", "now", immediately: { _ in throw Abort(.conflict, reason: "no") })
        } _: { server in
            try await body(server)
        }
    }

    @Test("A collection's routes are found by method and path")
    func collection() async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            #expect(try await client.request("GET", "/item/4%2F5").text == "got 4/5")
            #expect(try await client.request("GET", "/item/special").text == "got special")
            #expect(try await client.request("DELETE", "/item/6").text == "deleted 6")
            let created = try await client.request("POST", "/item", body: [])
            #expect(created.status == 201)
            #expect(created.headers["Content-Length"] == "0")
            #expect(try await client.request("GET", "/item/1/2").status == 404)
        }
    }

    @Test("An unknown path is 404 with an error body")
    func notFound() async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            let response = try await client.request("GET", "/no%22where?x=1")
            #expect(response.status == 404)
            #expect(response.headers["Content-Type"] == "application/json")
            let json = try response.json()
            #expect(json["error"].bool == true)
            #expect(json["code"].string == "not_found")
            #expect(json["reason"].string?.contains("/no%22where") == true)
            #expect(response.keepsConnection)
        }
    }

    @Test(
        "A known path with another method lists its methods",
        arguments: [("/item/1", "GET, DELETE, HEAD, OPTIONS"), ("/echo", "POST, OPTIONS")])
    func methods(path: String, allow: String) async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            let wrong = try await client.request("PATCH", path, body: Array("ignored".utf8))
            #expect(wrong.status == 405)
            #expect(wrong.headers["Allow"] == allow)
            #expect(try wrong.json()["code"].string == "method_not_allowed")
            let options = try await client.request("OPTIONS", path)
            #expect(options.status == 204)
            #expect(options.headers["Allow"] == allow)
            #expect(options.headers["Content-Length"] == nil)
            #expect(try await client.request("OPTIONS", "*").status == 204)
            #expect(try await client.request("GET", "/now/next").text == "next")
        }
    }

    @Test("Allow names the method of two routes once")
    func allowNamesOnce() async throws {
        try await Self.withServer { server in
            let response = try await HTTPTestClient.request(at: server.endpoint, "PUT", "/item/special")
            #expect(response.headers["Allow"] == "GET, DELETE, HEAD, OPTIONS")
        }
    }

    @Test("An Abort has Vapor's form with a code and escaped text")
    func abort() async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            let response = try await client.request("GET", "/abort")
            #expect(response.status == 403)
            #expect(response.headers["Retry-After"] == "7")
            let json = try response.json()
            #expect(
                json == [
                    "error": true, "code": "room_not_open", "reason": .string(Self.quotes),
                    "opensAt": .string(Self.quotes),
                ])
            let now = try await client.request("GET", "/abort/now")
            #expect(now.text == #"{"error":true,"code":"conflict","reason":"no"}"#)
        }
    }

    @Test("An unknown error is mapped", arguments: ["/unknown", "/unknown/now"])
    func mapping(path: String) async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            let response = try await client.request("GET", path)
            #expect(response.status == 503)
            #expect(try response.json()["code"].string == "mapped")
            #expect(try await client.request("GET", "/now/next").text == "next")
        }
    }

    @Test("Content in a coding is refused with the accepted codings")
    func codings() async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            let refusal = try await client.request(
                "POST", "/echo", headers: ["Content-Encoding": "gzip"], body: [0x1F, 0x8B])
            #expect(refusal.status == 415 && refusal.headers["Accept-Encoding"] == "identity")
            #expect(try refusal.json()["code"].string == "unsupported_media_type")
            let plain = try await client.request(
                "POST", "/echo", headers: ["Content-Encoding": "identity"], body: Array("ale".utf8))
            #expect(plain.text == "ale")
        }
    }

    static let limits: ServerLimits = {
        var limits = ServerLimits.patient
        limits.http = HTTPLimits(headBytes: 1024, targetBytes: 100, fields: 10, bodyBytes: 100)
        return limits
    }()

    @Test(
        "An invalid request is refused with its status, and ends the connection",
        arguments: [
            ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", 413),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n", 413),
            ("GET /" + String(repeating: "x", count: 100) + " HTTP/1.1\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: x\r\nExpect: a lot\r\n\r\n", 417),
            ("GET / HTTP/1.1\r\nHost: x\r\nLong: " + String(repeating: "x", count: 1024), 431),
            ("GET / HTTP/1.1\r\nHost: x\r\n" + String(repeating: "A: b\r\n", count: 10) + "\r\n", 431),
            ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
            (String(repeating: "X", count: 100) + " / HTTP/1.1\r\n\r\n", 501), ("GET / HTTP/2.0\r\n\r\n", 505),
        ])
    func refused(request: String, status: Int) async throws {
        try await Self.withServer(limits: Self.limits) { server in
            let connection = try await server.connection()
            let client = HTTPTestClient(over: connection)
            // The refused request follows a valid one.
            try await connection.send("GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\n" + request)
            #expect(try await client.readResponse(to: "GET").text == "1")
            let response = try await client.readResponse(to: "GET")
            #expect(response.status == status)
            #expect(!response.keepsConnection)
            #expect(try response.json()["error"].bool == true)
            try await connection.expectClosed()
            await connection.close()
            try await server.untilConnections(0)
            #expect(await server.application.counters().responses == [200: 1, status: 1])
        }
    }
}
