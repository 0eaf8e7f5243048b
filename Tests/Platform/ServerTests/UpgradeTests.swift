import Server
import TestSupport
import Testing

@Suite struct UpgradeTests {
    @Test("A connection moves to the requested loop with the bytes behind its handshake", arguments: 0..<4)
    func affinity(loop: Int) async throws {
        try await WebSocketBench.run { bench in
            // Connections are dealt to the loops in turn: each loop gets some that have to move and some that don't.
            var connections: [RawConnection] = []
            for _ in 0..<4 {
                let connection = try await bench.server.connection()
                connections.append(connection)
                let frames = [TestFrame(.text, "a"), TestFrame(.ping, "b"), TestFrame(.binary, [1, 2, 3])]
                let half = TestFrame(.text, "half").bytes()
                let bytes = frames.flatMap { $0.bytes() } + half.prefix(5)
                try await connection.send(WebSocketBench.handshake("/echo?loop=\(loop)") + bytes)
                let head = try await HTTPTestClient(over: connection).readHead()
                #expect(head.status == 101)
                // RFC 6455 §1.3.
                #expect(head.headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
                #expect(try await connection.receiveExactly(3) == [0x81, 1, 0x61])
                #expect(try await connection.receiveExactly(3) == [0x8A, 1, 0x62])
                #expect(try await connection.receiveExactly(5) == [0x82, 3, 1, 2, 3])
                try await connection.send(Array(half.dropFirst(5)))
                #expect(try await connection.receiveExactly(6) == [0x81, 4] + Array("half".utf8))
                try await bench.events.next("the upgrade") { $0 == .opened(loop: loop % 2) }
                try await bench.events.next("a message") { $0 == .received("half", loop: loop % 2) }
                #expect(bench.server.application.openConnections == connections.count)
            }
        }
    }

    @Test("A handshake may arrive byte by byte", arguments: [0, 1])
    func byteByByte(loop: Int) async throws {
        try await WebSocketBench.run { bench in
            for _ in 0..<2 {
                let connection = try await bench.server.connection()
                let bytes = WebSocketBench.handshake("/echo?loop=\(loop)") + TestFrame(.text, "a").bytes()
                try await connection.send(bytes, inPiecesOf: 1)
                _ = try await connection.receiveUntil("\r\n\r\n")
                #expect(try await connection.receiveExactly(3) == [0x81, 1, 0x61])
            }
        }
    }

    @Test("Requests before the handshake are answered first")
    func pipelined() async throws {
        try await WebSocketBench.run { bench in
            for loop in [0, 1, 0, 1] {
                let connection = try await bench.server.connection()
                let requests = "GET /later/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /now/2 HTTP/1.1\r\nHost: x\r\n\r\n"
                try await connection.send(
                    Array(requests.utf8) + WebSocketBench.handshake("/echo?loop=\(loop)")
                        + TestFrame(.text, "a").bytes())
                let client = HTTPTestClient(over: connection)
                #expect(try await client.readResponse(to: "GET").text == "1")
                #expect(try await client.readResponse(to: "GET").text == "2")
                #expect(try await client.readResponse(to: "GET").status == 101)
                #expect(try await connection.receiveExactly(3) == [0x81, 1, 0x61])
            }
        }
    }

    @Test("A refusal leaves the connection usable", arguments: [0, 1])
    func refusal(loop: Int) async throws {
        try await WebSocketBench.run { bench in
            for _ in 0..<2 {
                let connection = try await bench.server.connection()
                let client = HTTPTestClient(over: connection)
                let next = Array("GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /later/2 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
                try await connection.send(WebSocketBench.handshake("/refused?loop=\(loop)") + next)
                let response = try await client.readResponse(to: "GET")
                #expect(response.status == 403)
                #expect(try response.json()["code"].string == "not_yet")
                #expect(response.keepsConnection)
                #expect(try await client.readResponse(to: "GET").text == "1")
                #expect(try await client.readResponse(to: "GET").text == "2")
                // The next upgrade is checked on the connection's current loop.
                #expect(try await client.request("GET", "/refused?loop=\(loop)").status == 403)
                let upgraded = try await WebSocketTestClient.upgrade(connection, "/echo?loop=\(loop + 1)")
                try await upgraded.send(text: "x")
                #expect(try await upgraded.nextMessage() == .text("x"))
            }
        }
    }

    @Test("An invalid handshake gets an explanation")
    func noHandshake() async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.server.client()
            let plain = try await client.request("GET", "/echo")
            #expect(plain.status == 426)
            #expect(plain.headers.tokens(of: "Upgrade") == ["websocket"])
            #expect(plain.headers.tokens(of: "Connection") == ["upgrade"])
            #expect(try plain.json()["code"].string == "upgrade_required")
            var headers: TestHeaders = ["Upgrade": "websocket", "Connection": "Upgrade"]
            headers.append("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
            var old = headers
            old.append("Sec-WebSocket-Version", "8")
            let version = try await client.request("GET", "/echo", headers: old)
            #expect(version.status == 426)
            #expect(version.headers["Sec-WebSocket-Version"] == "13")
            var keyless: TestHeaders = ["Upgrade": "websocket", "Connection": "Upgrade"]
            keyless.append("Sec-WebSocket-Version", "13")
            #expect(try await client.request("GET", "/echo", headers: keyless).status == 400)
            let post = try await client.request("POST", "/echo/", body: [])
            #expect(post.status == 404)
            #expect(try await client.request("DELETE", "/room").headers["Allow"] == "GET, HEAD, OPTIONS")
            #expect(try await client.request("HEAD", "/echo").status == 426)
            #expect(try await client.request("GET", "/now/1").text == "1")
        }
    }

    @Test("A handshake in HTTP/1.0 is refused")
    func oldHTTP() async throws {
        try await WebSocketBench.run { bench in
            let connection = try await bench.server.connection()
            let text = String(decoding: WebSocketBench.handshake("/echo"), as: UTF8.self)
            try await connection.send(text.replacing("HTTP/1.1", with: "HTTP/1.0"))
            #expect(try await HTTPTestClient(over: connection).readResponse(to: "GET").status == 400)
            try await connection.expectClosed()
        }
    }

    @Test("Admission may be decided asynchronously", arguments: [0, 1])
    func asynchronousAdmission(loop: Int) async throws {
        try await WebSocketBench.run { bench in
            for admitted in [true, false, false, true] {
                let connection = try await bench.server.connection()
                try await connection.send(
                    WebSocketBench.handshake("/checked?loop=\(loop)") + TestFrame(.text, "early").bytes().prefix(3))
                try await bench.events.next("the question") { $0 == .received("asked", loop: -1) }
                bench.verdicts.append(admitted)
                let client = HTTPTestClient(over: connection)
                let response = try await client.readResponse(to: "GET")
                #expect(response.status == (admitted ? 101 : 404))
                if admitted {
                    try await bench.events.next("the upgrade") { $0 == .opened(loop: loop) }
                } else {
                    // The bytes that were sent too early were no valid request.
                    #expect(try await client.readResponse(to: "GET").status == 400)
                }
            }
        }
    }

    @Test("A client that disconnects before its admission is removed", arguments: ["fin", "reset"])
    func leavesEarly(how: String) async throws {
        try await WebSocketBench.run { bench in
            let connection = try await bench.server.connection()
            try await connection.send(WebSocketBench.handshake("/checked"))
            try await bench.events.next("the question") { $0 == .received("asked", loop: -1) }
            if how == "fin" { try await connection.shutdownWrite() } else { try await connection.reset() }
            if how == "reset" { try await bench.server.untilConnections(0) }
            bench.verdicts.append(true)
            if how == "fin" {
                _ = try await connection.receiveToEnd()
                try await bench.events.next("the end") { $0 == .closed(1006) }
            }
            try await bench.server.untilConnections(0)
            #expect(await bench.server.application.counters().openWebSockets == 0)
        }
    }
}
