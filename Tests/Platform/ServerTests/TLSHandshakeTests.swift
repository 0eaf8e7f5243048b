import Server
import Sockets
import TestSupport
import Testing

@Suite struct TLSHandshakeTests {
    @Test("curl gets HTTP/1.1 over TLS 1.2 and 1.3 with a verified certificate", arguments: ["1.2", "1.3"])
    func curl(version: String) async throws {
        try await TLSServer.run { tls in
            let result = try await Curl.run([
                "--cacert", tls.authority.file, "--tls-max", version, "-v",
                "-w", "\\n%{http_version} %{num_connects}\\n",
                "https://\(tls.endpoint)/now/1", "https://\(tls.endpoint)/later/2",
            ])
            #expect(result.status == .exited(0), "\(result)")
            #expect(result.notes.contains("SSL connection using TLSv\(version)"), "\(result)")
            #expect(result.notes.contains("server accepted http/1.1"), "\(result)")
            // The second request came on the same connection.
            #expect(result.output == "1\n1.1 1\n2\n1.1 0")
            try await tls.server.until("one handshake") { $0.tlsHandshakes == 1 && $0.failedTLSHandshakes.isEmpty }
        }
    }

    @Test(
        "A client without a common version, cipher or protocol gets an alert",
        arguments: [
            (["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], "alert protocol version"),
            (["-tls1_2", "-cipher", "AES128-SHA256"], "alert handshake failure"),
            (["-alpn", "h2"], "no application protocol"),
        ])
    func refused(arguments: [String], expected: String) async throws {
        try await TLSServer.run { tls in
            let tunnel = try await tls.tunnel(arguments)
            defer { withExtendedLifetime(tunnel) {} }
            _ = try? await tunnel.plain.receiveToEnd()
            try await tls.untilFailed(.protocolError)
            try await tls.server.untilConnections(0)
            let errorOutput = try await tunnel.errorOutput()
            #expect(errorOutput.contains(expected), "\(errorOutput)")
        }
    }

    @Test("A client may offer no protocol, or h2 first")
    func protocols() async throws {
        try await TLSServer.run { tls in
            for arguments in [[], ["-alpn", "h2,http/1.1"]] {
                let tunnel = try await tls.tunnel(arguments)
                defer { withExtendedLifetime(tunnel) {} }
                #expect(try await tunnel.http.request("GET", "/now/1").text == "1")
            }
        }
    }

    @Test("A stalled handshake times out at any step", arguments: [0, 1, 5, 9, 100])
    func stalled(count: Int) async throws {
        var limits = ServerLimits.patient
        limits.tlsHandshakeTimeout = .milliseconds(100)
        try await TLSServer.run(limits: limits) { tls in
            let connection = try await tls.server.connection()
            let client = try TLSTestSession()
            _ = try client.shakeHands()
            if count > 0 { try await connection.send(Array(client.takeOutput().prefix(count))) }
            try await connection.expectClosed()
            try await tls.untilFailed(.timeout)
        }
    }

    @Test("A handshake and a request may arrive byte by byte")
    func byteByByte() async throws {
        try await TLSServer.run { tls in
            let connection = try await tls.server.connection()
            let client = try TLSTestSession()
            while try !client.shakeHands() {
                let bytes = client.takeOutput()
                if bytes.isEmpty {
                    client.receive(try await connection.receive(upTo: 1))
                } else {
                    try await connection.send(bytes, inPiecesOf: 1)
                }
            }
            try client.write(Array("GET /now/slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
            try await connection.send(client.takeOutput(), inPiecesOf: 1)
            client.receive(try await connection.receiveToEnd())
            #expect(String(decoding: try client.read(), as: UTF8.self).hasSuffix("\r\n\r\nslow"))
            // The server has sent close_notify before it closed the connection.
            #expect(client.hasEnded)
        }
    }

    @Test("HTTP without TLS gets a plain response and ends the connection")
    func plainHTTP() async throws {
        try await TLSServer.run { tls in
            let client = try await tls.server.client()
            let response = try await client.request("GET", "/")
            #expect(response.status == 400)
            #expect(response.text.contains("https://"))
            #expect(!response.keepsConnection)
            try await client.expectClosed()
            try await tls.untilFailed(.plainHTTP)
        }
    }

    @Test("Bytes that aren't TLS close the connection without a response")
    func noise() async throws {
        try await TLSServer.run { tls in
            let connection = try await tls.server.connection()
            try await connection.send([UInt8](repeating: 0, count: 1_000))
            #expect(try await connection.receiveToEnd().isEmpty)
            try await tls.untilFailed(.protocolError)
            try await tls.server.untilConnections(0)
        }
    }

    @Test("A client that disconnects during the handshake is removed", arguments: [false, true])
    func left(byReset: Bool) async throws {
        try await TLSServer.run { tls in
            let connection = try await tls.server.connection()
            try await connection.send([0x16, 3, 1])
            try await tls.server.until("the connection") { $0.acceptedConnections == 1 }
            if byReset { try await connection.reset() } else { try await connection.shutdownWrite() }
            try await tls.untilFailed(.closed)
            try await tls.server.untilConnections(0)
        }
    }

    @Test("A PROXY header may precede the handshake", arguments: [1, 5, 1000])
    func proxy(pieces: Int) async throws {
        var edge = EdgePolicy()
        edge.expectsProxyHeader = true
        try await TLSServer.run(edge: edge) { tls in
            let connection = try await tls.server.connection()
            let client = try TLSTestSession()
            _ = try client.shakeHands()
            let header = Array("PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n".utf8)
            try await connection.send(header + client.takeOutput(), inPiecesOf: pieces)
            while try !client.shakeHands() { client.receive(try await connection.receive(upTo: 100_000)) }
            try client.write(Array("GET /now/proxied HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
            try await connection.send(client.takeOutput())
            client.receive(try await connection.receiveToEnd())
            #expect(String(decoding: try client.read(), as: UTF8.self).hasSuffix("proxied"))

            // A connection without the PROXY header is refused.
            let bare = try await tls.server.connection()
            try await bare.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC])
            try await bare.expectClosed()
            try await tls.server.until("the refusal") { $0.refusedProxies == 1 }
        }
    }

    @Test("A connection above a limit is refused before its handshake")
    func limits() async throws {
        var (limits, edge) = (ServerLimits.patient, EdgePolicy())
        limits.maxConnectionsPerAddress = 1
        edge.expectsProxyHeader = true
        try await TLSServer.run(limits: limits, edge: edge) { tls in
            /// Sends the PROXY header, and begins the handshake.
            func begin(_ connection: RawConnection) async throws {
                let client = try TLSTestSession()
                _ = try client.shakeHands()
                try await connection.send(
                    Array("PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n".utf8) + client.takeOutput())
            }
            let first = try await tls.server.connection()
            try await begin(first)
            // Receiving a handshake byte proves that the server has read the header.
            _ = try await first.receive(upTo: 1)
            let second = try await tls.server.connection()
            try await begin(second)
            try await second.expectClosed()
            try await tls.server.until("the refusal") { $0.connectionsOverAddressLimit == 1 }
            #expect(await tls.server.application.counters().failedTLSHandshakes.isEmpty)
        }
    }

    @Test("A stopping server ends handshakes in progress")
    func drain() async throws {
        try await TLSServer.run { tls in
            let connection = try await tls.server.connection()
            try await connection.send([0x16, 3, 1])
            try await tls.server.until("the connection") { $0.acceptedConnections == 1 }
            #expect(await tls.server.application.drain(within: .seconds(30)))
            try await connection.expectClosed()
        }
    }
}
