import Server
import Sockets
import TestSupport
import Testing
import Wire

/// Requests that are refused before a route is called, and the fields of every answer.
@Suite struct EdgeTests {
    private static func withServer(
        hosts: [String] = ["*"], _ change: (inout EdgePolicy) -> Void = { _ in },
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var edge = EdgePolicy()
        edge.allowedHosts = AllowedHosts()
        for host in hosts { edge.allowedHosts.insert(host) }
        change(&edge)
        try await TestServer.run(edge: edge) { routes in
            routes.addPlain()
            routes.delete("thing") { _ in Response(.noContent) }
            routes.groupForAnyHost { $0.get("alive", immediately: { _ in .text("yes") }) }
        } _: { server in
            try await body(server)
        }
    }

    @Test(
        "A foreign page changes nothing",
        arguments: [
            ["Origin": "https://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
            ["Sec-Fetch-Site": "same-site"], ["Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"],
        ] as [TestHeaders])
    func writes(headers: TestHeaders) async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            for (method, path) in [("POST", "/echo"), ("DELETE", "/thing"), ("POST", "/nowhere"), ("PUT", "/now/1")] {
                let answer = try await client.request(method, path, headers: headers, body: [1])
                #expect(answer.status == 403)
                #expect(try answer.json()["code"].string == "origin_not_allowed")
            }
            for (method, status) in [("GET", 200), ("HEAD", 200), ("OPTIONS", 204)] {
                #expect(try await client.request(method, "/now/1", headers: headers).status == status)
            }
            let counters = await server.application.counters()
            #expect(counters.crossOriginWrites == 4 && counters.crossOriginUpgrades == 0)
        }
    }

    @Test("Programs, own pages and listed pages can write")
    func allowedWrites() async throws {
        try await Self.withServer {
            _ = $0.allowedOrigins.insert("https://app.example")
        } _: { server in
            let client = try await server.client()
            for headers: TestHeaders in [
                [:], ["Origin": "http://\(server.endpoint.authority)"], ["Origin": "https://app.example"],
                ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"],
                ["Origin": "null", "Sec-Fetch-Site": "same-origin"],
            ] {
                #expect(try await client.request("POST", "/echo", headers: headers, body: [1]).status == 200)
            }
        }
    }

    @Test("A request for another host is refused, unless the route accepts any host")
    func hosts() async throws {
        let refusedHosts = EventRecorder<String>()
        try await Self.withServer(hosts: ["example.org"]) {
            $0.hostRefused = { refusedHosts.append($0) }
        } _: { server in
            let client = try await server.client()
            for path in ["/now/1", "/later/1", "/nowhere", "/alive/not"] {
                // Connections are dealt to the loops in turn.
                let client = try await server.client()
                let answer = try await client.request("GET", path, headers: ["Host": "evil.example:8080"])
                #expect(answer.status == 421 && answer.keepsConnection)
                #expect(try answer.json()["code"].string == "host_not_allowed")
            }
            #expect(
                try await client.request("POST", "/echo", headers: ["Host": "evil.example"], body: [1]).status == 421)
            #expect(try await client.request("GET", "/alive", headers: ["Host": "evil.example"]).text == "yes")
            for host in ["example.org", "Example.org:80", server.endpoint.authority, "[::1]:9"] {
                #expect(try await client.request("GET", "/now/1", headers: ["Host": host]).text == "1")
            }
            #expect(await server.application.counters().refusedHosts == 5)
            // All loops together report one host a minute.
            #expect(refusedHosts.all == ["evil.example:8080"])
        }
    }

    @Test("A response forbids caching and type guessing unless it sets its own caching")
    func fields() async throws {
        try await TestServer.run { routes in
            routes.addPlain()
            routes.get("kept") { _ in Response(headers: [HTTPField("Cache-Control", "max-age=60")]) }
        } _: { server in
            let client = try await server.client()
            for (method, path, caching) in [
                ("GET", "/now/1", "no-store"), ("GET", "/nowhere", "no-store"), ("PUT", "/now/1", "no-store"),
                ("OPTIONS", "/now/1", "no-store"), ("GET", "/kept", "max-age=60"),
            ] {
                let answer = try await client.request(method, path)
                #expect(answer.headers.values(of: "Cache-Control") == [caching])
                #expect(answer.headers.values(of: "X-Content-Type-Options") == ["nosniff"])
                #expect(answer.headers["Strict-Transport-Security"] == nil)
            }
            let refused = try await server.connection()
            try await refused.send(Array("GET / HTTP/1.1\r\nHost: a b\r\n\r\n".utf8))
            let answer = try await HTTPTestClient(over: refused).readResponse(to: "GET")
            #expect(answer.status == 400 && answer.headers["X-Content-Type-Options"] == "nosniff")
        }
    }

    @Test("Responses through TLS have Strict-Transport-Security if it is configured", arguments: [0, 31_536_000])
    func strictTransport(seconds: Int) async throws {
        var edge = EdgePolicy()
        edge.strictTransportSeconds = seconds
        try await TLSServer.run(edge: edge) { secure in
            let tunnel = try await secure.tunnel()
            defer { withExtendedLifetime(tunnel) {} }
            let client = HTTPTestClient(over: tunnel.plain)
            for path in ["/now/1", "/nowhere"] {
                let answer = try await client.request("GET", path, headers: ["Host": "localhost"])
                #expect(answer.headers["Strict-Transport-Security"] == (seconds > 0 ? "max-age=\(seconds)" : nil))
            }
            // Without TLS the field would have no effect (RFC 6797 §7.2), and an attacker could insert it.
            let plain = try await HTTPTestClient.request(at: secure.endpoint, "GET", "/now/1")
            #expect(plain.status == 400 && plain.headers["Strict-Transport-Security"] == nil)
        }
    }
}
