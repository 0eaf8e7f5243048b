import Server
import TestSupport
import Testing
import Wire

@Suite struct CrossOriginTests {
    private static let page: TestHeaders = ["Origin": "https://app.example"]
    private static let preflight: TestHeaders = [
        "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    ]

    private static func withServer(
        allowing origins: [String], _ body: (WebSocketBench) async throws -> Void
    ) async throws {
        var edge = EdgePolicy()
        for origin in origins { _ = edge.allowedOrigins.insert(origin) }
        try await WebSocketBench.run(edge: edge, body)
    }

    @Test("Only the server's own page and programs get a WebSocket")
    func sameOrigin() async throws {
        try await Self.withServer(allowing: []) { bench in
            for loop in 0..<2 {
                let refusal = try await WebSocketTestClient.refusal(
                    at: bench.endpoint, "/echo?loop=\(loop)", headers: Self.page)
                #expect(refusal.status == 403)
                #expect(try refusal.json()["code"].string == "origin_not_allowed")
            }
            #expect(await bench.server.application.counters().crossOriginUpgrades == 2)
            for headers: TestHeaders in [[:], ["Origin": "https://\(bench.endpoint.authority)"]] {
                let client = try await WebSocketTestClient.connect(to: bench.endpoint, "/echo", headers: headers)
                try await client.closeHandshake()
            }
            // A request that isn't a WebSocket upgrade is answered with that error, whatever its origin.
            let plain = try await HTTPTestClient.request(at: bench.endpoint, "GET", "/echo", headers: Self.page)
            #expect(plain.status == 426)
        }
    }

    @Test("A page of a listed origin gets its WebSocket", arguments: ["https://app.example", "*"])
    func listed(origin: String) async throws {
        try await Self.withServer(allowing: [origin]) { bench in
            let client = try await WebSocketTestClient.connect(to: bench.endpoint, "/echo", headers: Self.page)
            try await client.closeHandshake()
            guard origin != "*" else { return }
            let other: TestHeaders = ["Origin": "https://other.example"]
            #expect(try await WebSocketTestClient.refusal(at: bench.endpoint, "/echo", headers: other).status == 403)
        }
    }

    @Test(
        "A page of a listed origin may read every response, including errors",
        arguments: [("GET", "/now/1", 200), ("GET", "/later/1", 200), ("GET", "/nowhere", 404), ("PUT", "/now/1", 405)])
    func shared(method: String, path: String, status: Int) async throws {
        try await Self.withServer(allowing: ["https://app.example"]) { bench in
            let client = try await bench.server.client()
            let answer = try await client.request(method, path, headers: Self.page)
            #expect(answer.status == status)
            #expect(answer.headers.values(of: "Access-Control-Allow-Origin") == ["https://app.example"])
            #expect(answer.headers.values(of: "Vary") == ["Origin"])
            #expect(answer.headers["Access-Control-Allow-Credentials"] == nil)
            for headers: TestHeaders in [[:], ["Origin": "https://other.example"], ["Origin": "null"]] {
                let other = try await client.request(method, path, headers: headers)
                // Other origins' pages may send reads but can't read the answers. Their writes are refused.
                #expect(other.status == (method == "PUT" && headers["Origin"] != nil ? 403 : status))
                #expect(other.headers["Access-Control-Allow-Origin"] == nil)
                // A cache must know that the answer depends on the origin.
                #expect(other.headers["Vary"] == "Origin")
            }
        }
    }

    @Test(
        "A page of a listed origin may read the refusal of a head if its Origin has arrived",
        arguments: [
            ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\nOrigin: https://app.example\r\n\r\n", 413),
            (
                "GET /\(String(repeating: "x", count: 100)) HTTP/1.1\r\nHost: x\r\norigin:https://app.example\r\n\r\n",
                414
            ),
            ("POST / HTTP/1.1\r\nOrigin: https://app.example\r\nHost: x\r\nExpect: a lot\r\n\r\n", 417),
            ("GET / HTTP/1.1\r\nOrigin: https://app.example\r\nLong: \(String(repeating: "x", count: 1024))", 431),
            (
                "POST / HTTP/1.1\r\nOrigin: https://app.example\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                501
            ),
        ], [false, true])
    func refusedHeads(_ refusal: (request: String, status: Int), inPieces: Bool) async throws {
        var edge = EdgePolicy()
        _ = edge.allowedOrigins.insert("https://app.example")
        try await TestServer.run(limits: RefusalTests.limits, edge: edge) {
            $0.addPlain()
        } _: { server in
            for (origin, isShared) in [("https://app.example", true), ("https://bad.example", false)] {
                let request = refusal.request.replacing("https://app.example", with: origin)
                let connection = try await server.connection()
                // The line of the origin arrives in two pieces.
                let cut = inPieces ? try #require(request.firstRange(of: "rigin")).lowerBound : request.startIndex
                if inPieces { try await connection.send(String(request[..<cut])) }
                // A target that is too long is refused before the rest of the head arrives. Sent, the rest could arrive with it.
                let hasArrived = !inPieces || refusal.status != 414
                if hasArrived { try await connection.send(String(request[cut...])) }
                let answer = try await HTTPTestClient(over: connection).readResponse(to: "GET")
                #expect(answer.status == refusal.status)
                #expect(answer.headers["Access-Control-Allow-Origin"] == (isShared && hasArrived ? origin : nil))
                #expect(answer.headers["Vary"] == "Origin")
                await connection.close()
            }
        }
    }

    @Test("With a star every page may read, and all responses are alike")
    func star() async throws {
        try await Self.withServer(allowing: ["*"]) { bench in
            let client = try await bench.server.client()
            for headers: TestHeaders in [Self.page, [:], ["Origin": "null"]] {
                let answer = try await client.request("GET", "/now/1", headers: headers)
                #expect(answer.headers["Access-Control-Allow-Origin"] == "*")
                #expect(answer.headers["Access-Control-Allow-Credentials"] == nil)
                #expect(answer.headers["Vary"] == nil)
            }
        }
    }

    @Test("A preflight request is answered with the permitted fields")
    func preflights() async throws {
        try await Self.withServer(allowing: ["https://app.example"]) { bench in
            let client = try await bench.server.client()
            let answer = try await client.request("OPTIONS", "/echo", headers: Self.preflight)
            #expect(answer.status == 204)
            #expect(
                answer.headers["Allow"] == "GET, HEAD, OPTIONS, POST"
                    || answer.headers["Allow"] == "POST, GET, HEAD, OPTIONS")
            #expect(answer.headers["Access-Control-Allow-Origin"] == "https://app.example")
            #expect(answer.headers.tokens(of: "Access-Control-Allow-Methods").contains("post"))
            #expect(answer.headers.tokens(of: "Access-Control-Allow-Headers").contains("content-type"))
            #expect(answer.headers["Access-Control-Max-Age"] == "7200")
            #expect(answer.headers["Vary"] == "Origin")
            // A plain OPTIONS isn't a preflight request, and other pages get no permission.
            for headers: TestHeaders in [
                [:], Self.page, ["Origin": "https://other.example", "Access-Control-Request-Method": "POST"],
            ] {
                let plain = try await client.request("OPTIONS", "/echo", headers: headers)
                #expect(plain.status == 204)
                #expect(plain.headers["Allow"] == answer.headers["Allow"])
                #expect(plain.headers["Access-Control-Allow-Methods"] == nil)
            }
            #expect(try await client.request("OPTIONS", "/nowhere", headers: Self.preflight).status == 404)
        }
    }

    @Test("Without a list, responses have no CORS fields")
    func none() async throws {
        try await Self.withServer(allowing: []) { bench in
            for method in ["GET", "OPTIONS"] {
                let answer = try await HTTPTestClient.request(
                    at: bench.endpoint, method, "/now/1", headers: Self.preflight)
                #expect(answer.headers["Vary"] == nil)
                #expect(!answer.headers.fields.contains { $0.name.hasPrefix("Access-Control") })
            }
        }
    }
}
