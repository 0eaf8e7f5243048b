import TestSupport
import Testing

@Suite struct HTTPTestClientTests {
    @Test("A request is sent as given, with Host and Content-Length")
    func sends() async throws {
        let heads = EventRecorder<String>()
        let server = try ScriptedServer { peer in
            heads.append(peer.readHead() + String(decoding: peer.read(7), as: UTF8.self))
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-A: 1\r\nx-a:  2\r\n\r\nabc")
        }
        let client = try await HTTPTestClient.connect(to: server.endpoint)
        let response = try await client.request("POST", "/task?a=b", headers: ["X-Y": "z"], json: ["a": 1])
        #expect(
            try await heads.next() == "POST /task?a=b HTTP/1.1\r\nHost: \(server.endpoint)\r\nX-Y: z\r\n"
                + "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}")
        #expect(response.status == 200)
        #expect(response.headers.values(of: "X-A") == ["1", "2"])
        #expect(response.text == "abc")
    }

    @Test("JSON can be inspected and decoded")
    func json() async throws {
        struct Body: Decodable, Equatable { let b: [Int] }
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"b\":[1]}")
        }
        let response = try await HTTPTestClient.request(at: server.endpoint, "GET", "/")
        #expect(try response.json()["b"][0].int == 1)
        #expect(try response.json()["c"].isAbsent)
        #expect(try response.decode(Body.self) == Body(b: [1]))
    }

    @Test("Pipelined responses are read in order")
    func pipelining() async throws {
        let server = try ScriptedServer { peer in
            for _ in 0..<6 { peer.readHead() }
            let responses =
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"
                + "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
                + "HTTP/1.1 204 No Content\r\n\r\n"
                + "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n"
                + "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end"
            for byte in responses.utf8 { peer.write([byte]) }
        }
        let client = try await HTTPTestClient.connect(to: server.endpoint)
        for method in ["GET", "HEAD", "GET", "GET", "GET", "GET"] { try await client.sendRequest(method, "/") }
        var bodies: [String] = []
        for _ in 0..<5 { bodies.append(try await client.readResponse().text) }
        #expect(bodies == ["ab", "", "", "", "abc0123456789"])
        let last = try await client.readResponse()
        #expect(last.text == "to the end")
        #expect(last.interimStatuses == [103])
        #expect(!last.keepsConnection)
        try await client.expectClosed()
    }

    @Test("A body can wait for 100 Continue")
    func expectContinue() async throws {
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 100 Continue\r\n\r\n")
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + String(decoding: peer.read(2), as: UTF8.self))
        }
        let client = try await HTTPTestClient.connect(to: server.endpoint)
        try await client.sendHead("POST", "/", headers: ["Content-Length": "2", "Expect": "100-continue"])
        #expect(try await client.readHead().status == 100)
        try await client.connection.send("hi")
        #expect(try await client.readResponse().text == "hi")
    }

    @Test(
        "An invalid response is refused",
        arguments: [
            "HTTP/1.1 200\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nA\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\nB: c\r\n\r\n",
            "HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        ])
    func violations(response: String) async throws {
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write(response)
        }
        let failure = await #expect(throws: ClientFailure.self) {
            try await HTTPTestClient.request(at: server.endpoint, "GET", "/")
        }
        guard case .violation = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("A truncated body is an early end")
    func cutShort() async throws {
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab")
        }
        await #expect(throws: ClientFailure.ended(waitingFor: "1 more bytes of the body", received: "nothing")) {
            try await HTTPTestClient.request(at: server.endpoint, "GET", "/")
        }
    }
}
