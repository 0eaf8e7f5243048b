import Foundation
import Server
import Sockets
import TestSupport
import Testing
import Wire

@Suite struct TLSTrafficTests {
    @Test("Large bodies arrive whole in both directions")
    func large() async throws {
        var limits = ServerLimits.patient
        limits.http = HTTPLimits(headBytes: 16_384, bodyBytes: 2 << 20)
        try await TLSServer.run(limits: limits) { tls in
            let tunnel = try await tls.tunnel()
            defer { withExtendedLifetime(tunnel) {} }
            let client = tunnel.http
            let body = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
            #expect(try await client.request("POST", "/echo", body: body).body == body)
            #expect(try await client.request("GET", "/now/after").text == "after")
        }
    }

    @Test("A slow reader gets the whole response")
    func slowReader() async throws {
        try await TLSServer.run { tls in
            let tunnel = try await tls.tunnel()
            defer { withExtendedLifetime(tunnel) {} }
            let client = tunnel.http
            let size = 20 << 20
            try await client.sendRequest("GET", "/big?size=\(size)")
            try await client.sendRequest("GET", "/now/next")
            // The answer is complete, but its end can't be sent before the client reads.
            try await tls.server.until("the answer") { $0.responses[200] == 1 }
            #expect(try await client.readResponse().body.count == size)
            #expect(try await client.readResponse().text == "next")
        }
    }

    @Test("Pipelined requests are answered in order, in one record or in many")
    func records() async throws {
        try await TLSServer.run { tls in
            let client = try TLSTestSession()
            let connection = try await Self.secured(client, tls.server)
            let requests = (0..<50).map { "GET /now/\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }
            try client.write(Array(requests.joined().utf8))
            for byte in "GET /later/end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8 {
                try client.write([byte])
            }
            try await connection.send(client.takeOutput())
            client.receive(try await connection.receiveToEnd())
            let answers = String(decoding: try client.read(), as: UTF8.self)
            let bodies = answers.components(separatedBy: "\r\n\r\n").dropFirst().map {
                $0.components(separatedBy: "HTTP/1.1")[0]
            }
            #expect(bodies == (0..<50).map(String.init) + ["end"])
        }
    }

    @Test("After the client's close_notify, the server responds and sends its own")
    func halfClose() async throws {
        try await TLSServer.run { tls in
            let client = try TLSTestSession()
            let connection = try await Self.secured(client, tls.server)
            try client.write(Array("GET /later/last HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
            client.close()
            try await connection.send(client.takeOutput())
            client.receive(try await connection.receiveToEnd())
            #expect(String(decoding: try client.read(), as: UTF8.self).hasSuffix("last"))
            #expect(client.hasEnded)
            try await tls.server.untilConnections(0)
        }
    }

    @Test("A close_notify behind the handshake is handled on the connection's new loop", arguments: [0, 1])
    func endThatMoves(loop: Int) async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        let context = try TLSContext(certificateFile: identity.certificate, keyFile: identity.key)
        try await WebSocketBench.run(tls: context) { bench in
            // The connections are distributed to the loops in turn, so one of them has to move to another loop and the
            // other hasn't.
            for _ in 0..<2 {
                let client = try TLSTestSession()
                let connection = try await Self.secured(client, bench.server)
                try client.write(WebSocketBench.handshake("/echo?loop=\(loop)"))
                client.close()
                try await connection.send(client.takeOutput())
                _ = try await connection.receiveToEnd()
                try await bench.events.next("the end") { $0 == .closed(1006) }
                try await bench.server.untilConnections(0)
            }
            // The server noticed it without a ping.
            #expect(await bench.server.application.counters().timeouts.isEmpty)
        }
    }

    @Test(
        "An unexpected end ends only its own connection",
        arguments: [0, 3, 30])
    func truncated(count: Int) async throws {
        try await TLSServer.run { tls in
            let client = try TLSTestSession()
            let connection = try await Self.secured(client, tls.server)
            try client.write(Array("GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
            try await connection.send(Array(client.takeOutput().prefix(count)))
            try await connection.shutdownWrite()
            client.receive(try await connection.receiveToEnd())
            #expect(try client.read().isEmpty)
            try await tls.server.untilConnections(0)
            #expect(await tls.server.application.counters().failedTLSHandshakes.isEmpty)
        }
    }

    @Test("A broken record ends its connection with an alert")
    func broken() async throws {
        try await TLSServer.run { tls in
            let client = try TLSTestSession()
            let connection = try await Self.secured(client, tls.server)
            try await connection.send([0x17, 3, 3, 0, 20] + [UInt8](repeating: 1, count: 20))
            client.receive(try await connection.receiveToEnd())
            let failure = #expect(throws: TLSTestSession.Failure.self) { try client.read() }
            #expect(failure?.reason.contains("bad record mac") == true)
            try await tls.server.untilConnections(0)
        }
    }

    @Test("New connections use a new certificate")
    func replaced() async throws {
        try await TLSServer.run { tls in
            let tunnel = try await tls.tunnel()
            defer { withExtendedLifetime(tunnel) {} }
            let old = tunnel.http
            #expect(try await old.request("GET", "/now/1").text == "1")
            let identity = try await tls.authority.issue("next", serial: 0xBEEF)
            await tls.server.application.replaceTLS(
                try TLSContext(certificateFile: identity.certificate, keyFile: identity.key))
            #expect(try await old.request("GET", "/now/2").text == "2")
            // Both loops serve such connections.
            for _ in 0..<2 {
                let result = try await Curl.run([
                    "--cacert", tls.authority.file, "-w", "%{certs}", "https://\(tls.endpoint)/now/new",
                ])
                #expect(result.status == .exited(0), "\(result)")
                #expect(result.output.contains("Serial Number:beef"), "\(result)")
            }
        }
    }

    /// Returns a connection whose handshake is complete.
    private static func secured(_ client: TLSTestSession, _ server: TestServer) async throws -> RawConnection {
        let connection = try await server.connection()
        while try !client.shakeHands() {
            let bytes = client.takeOutput()
            if bytes.isEmpty {
                client.receive(try await connection.receive(upTo: 65_536))
            } else {
                try await connection.send(bytes)
            }
        }
        try await connection.send(client.takeOutput())
        return connection
    }
}
