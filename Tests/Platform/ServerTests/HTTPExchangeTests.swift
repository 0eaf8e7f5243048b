import Foundation
import Server
import TestSupport
import Testing
import Wire

@Suite struct HTTPExchangeTests {
    private static func withServer(
        limits: ServerLimits = ServerLimits.patient, _ body: (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(limits: limits, routes: { $0.addPlain() }, body)
    }

    @Test(
        "The server responds on every kind of address",
        arguments: ["127.0.0.1", "::1", "/tmp/ls-server-\(UUID().uuidString)"])
    func addresses(address: String) async throws {
        try await TestServer.run(at: address) {
            $0.addPlain()
        } _: { server in
            let response = try await HTTPTestClient.request(at: server.endpoint, "GET", "/now/x")
            #expect(response.status == 200)
            #expect(response.text == "x")
            #expect(response.headers["Date"]?.hasSuffix("GMT") == true)
        }
        #expect(access(address, F_OK) != 0)
    }

    @Test("A persistent connection serves handlers of both kinds")
    func keepAlive() async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            for path in ["now", "later", "now", "now", "later", "later"] {
                let response = try await client.request("GET", "/\(path)/a%20b")
                #expect(response.text == "a b")
                #expect(response.keepsConnection)
            }
            #expect(try await client.request("GET", "/").text == "root")
            #expect(server.application.openConnections == 1)
            let last = try await client.request("GET", "/", headers: ["Connection": "close"])
            #expect(!last.keepsConnection)
            try await client.expectClosed()
            await client.close()
            try await server.untilConnections(0)
            let counters = await server.application.counters()
            #expect(counters.responses == [200: 8])
            #expect(counters.acceptedConnections == 1)
        }
    }

    @Test("Pipelined requests are answered in order, however they are split", arguments: [1, 7, 64, 100_000])
    func pipelining(pieces: Int) async throws {
        try await Self.withServer { server in
            let connection = try await server.connection()
            let names = (0..<60).map { "\($0 % 3 == 0 ? "later" : "now")/\($0)" }
            let requests = names.map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined()
            async let sent: Void = connection.send(Array(requests.utf8), inPiecesOf: pieces)
            let client = HTTPTestClient(over: connection)
            for number in 0..<60 {
                #expect(try await client.readResponse(to: "GET").text == "\(number)")
            }
            try await sent
        }
    }

    @Test("A pipeline longer than every buffer is answered completely", arguments: ["now", "later"])
    func longPipeline(kind: String) async throws {
        try await Self.withServer { server in
            let connection = try await server.connection()
            let count = 2000
            let filling = String(repeating: "y", count: 60)
            let requests = (0..<count).map { "GET /\(kind)/\($0) HTTP/1.1\r\nHost: x\r\nFilling: \(filling)\r\n\r\n" }
            async let sent: Void = connection.send(Array(requests.joined().utf8))
            let client = HTTPTestClient(over: connection)
            for number in 0..<count {
                let text = try await client.readResponse(to: "GET").text
                try #require(text == "\(number)")
            }
            try await sent
        }
    }

    @Test(
        "A peer that doesn't read gets all responses later",
        arguments: ["big", "later"])
    func unreadAnswers(kind: String) async throws {
        let called = EventRecorder<Int>()
        let body = [UInt8](repeating: 0x78, count: 65_536)
        // The kernel's buffer of a Unix socket is small and has a known size.
        try await TestServer.run(at: "/tmp/ls-unread-\(UUID().uuidString)") { routes in
            routes.get(
                "big",
                immediately: { _ in
                    called.append(1)
                    return Response(.ok, body: .bytes(body))
                })
            routes.get("later") { _ in
                called.append(1)
                return Response(.ok, body: .bytes(body))
            }
        } _: { server in
            let connection = try await server.connection()
            let count = 500
            let request = "GET /\(kind) HTTP/1.1\r\nHost: x\r\n\r\n"
            try await connection.send(String(repeating: request, count: count))
            try await called.next("a call")
            // After several rounds of both loops, everything is done that can be done while the client doesn't read.
            for _ in 0..<50 { _ = await server.application.counters() }
            #expect(called.all.count < 50)
            let client = HTTPTestClient(over: connection)
            for _ in 0..<count {
                #expect(try await client.readResponse(to: "GET").body.count == body.count)
            }
            #expect(called.all.count == count)
            await connection.close()
            try await server.untilConnections(0)
        }
    }

    @Test("A body arrives in one piece, in chunks, or byte by byte", arguments: [1, 5, 10_000])
    func bodies(pieces: Int) async throws {
        try await Self.withServer { server in
            let connection = try await server.connection()
            let client = HTTPTestClient(over: connection)
            let requests =
                "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
                + "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
                + "\r\nPOST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            try await connection.send(Array(requests.utf8), inPiecesOf: pieces)
            for expected in ["hello", "abc0123456789", ""] {
                #expect(try await client.readResponse(to: "POST").text == expected)
            }
        }
    }

    @Test("A client with Expect gets 100 Continue only if its body will be accepted")
    func expectContinue() async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            let ask: TestHeaders = ["Expect": "100-continue", "Content-Length": "4"]
            try await client.sendHead("POST", "/echo", headers: ask)
            #expect(try await client.readHead().status == 100)
            try await client.connection.send("body")
            #expect(try await client.readResponse().text == "body")

            let tooMuch: TestHeaders = ["Expect": "100-continue", "Content-Length": "1000000"]
            try await client.sendHead("POST", "/echo", headers: tooMuch)
            let refusal = try await client.readResponse()
            #expect(refusal.status == 413)
            #expect(refusal.interimStatuses == [])
            try await client.expectClosed()
        }
    }

    @Test("HEAD is GET without content", arguments: ["/now/abc", "/later/abc", "/nowhere"])
    func head(path: String) async throws {
        try await Self.withServer { server in
            let client = try await server.client()
            let get = try await client.request("GET", path)
            let head = try await client.request("HEAD", path)
            #expect(head.status == get.status)
            #expect(head.headers["Content-Length"] == "\(get.body.count)")
            #expect(head.body == [])
            #expect(try await client.request("GET", "/now/next").text == "next")
        }
    }

    @Test("A refused HEAD has no content")
    func refusedHead() async throws {
        try await Self.withServer { server in
            let connection = try await server.connection()
            try await connection.send("HEAD / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nwrong\r\n")
            let answer = String(decoding: try await connection.receiveToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
            #expect(answer.hasSuffix("\r\n\r\n"))
        }
    }

    @Test("HTTP/1.0 closes the connection unless the client asks to keep it")
    func oldHTTP() async throws {
        try await Self.withServer { server in
            let connection = try await server.connection()
            let client = HTTPTestClient(over: connection)
            try await connection.send("GET /now/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let kept = try await client.readResponse(to: "GET")
            #expect(kept.headers.tokens(of: "Connection") == ["keep-alive"])
            try await connection.send("GET /later/2 HTTP/1.0\r\n\r\n")
            let last = try await client.readResponse(to: "GET")
            #expect(last.text == "2")
            #expect(last.headers.tokens(of: "Connection") == ["close"])
            try await connection.expectClosed()
        }
    }

    @Test(
        "A peer that sends requests and a FIN gets all responses", arguments: ["now", "later", "big?size=300000&n="])
    func halfClose(kind: String) async throws {
        try await Self.withServer { server in
            let connection = try await server.connection()
            let request = "GET /\(kind)/7 HTTP/1.1\r\nHost: x\r\n\r\n"
            try await connection.send(String(repeating: request, count: 20) + "GET /half HTT")
            try await connection.shutdownWrite()
            let client = HTTPTestClient(over: connection)
            for _ in 0..<20 {
                let response = try await client.readResponse(to: "GET")
                #expect(response.text == "7" || response.body.count == 300_000)
            }
            try await connection.expectClosed()
            try await server.untilConnections(0)
        }
    }

    @Test("A large last response reaches a slow reader completely")
    func bigLastAnswer() async throws {
        try await Self.withServer { server in
            let connection = try await server.connection(receiveBuffer: 4096)
            try await connection.send("GET /big?size=8000000 HTTP/1.0\r\n\r\n")
            try await server.until("the answer") { $0.responses[200] == 1 }
            let answer = try await connection.receiveToEnd()
            #expect(answer.count > 8_000_000)
        }
    }

    @Test("A connection that is lost while its response is prepared is removed")
    func lostPeer() async throws {
        let (started, gate) = (EventRecorder<Int>(), EventRecorder<Int>())
        try await TestServer.run { routes in
            routes.get("held") { _ in
                started.append(1)
                try await gate.next("the gate")
                return .text("late")
            }
        } _: { server in
            let connection = try await server.connection()
            try await connection.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            try await started.next("the handler")
            try await connection.reset()
            try await server.untilConnections(0)
            gate.append(1)
            #expect(await server.application.counters().responses == [:])
        }
    }
}
