import Testing

@testable import Wire

@Suite struct HTTPRequestParserTests {
    /// Valid streams of one connection.
    static let streams: [String] = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /task HTTP/1.1\r\nHost: a:8080\r\nContent-Length: 5\r\n\r\nhello\r\nGET /b HTTP/1.1\r\nHost: b\r\n\r\n",
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b;c=\"d e\"\r\n world\r\n0\r\n"
            + "Digest: x\r\nB:\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: , chunked\r\n\r\n000A\r\n0123456789\r\n00\r\n\r\n",
        "PUT / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nX:\t v w \t\r\nÜ: x\r\n".replacing("Ü", with: "U") + "\r\n",
        "GET http://b:1/c?d HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 00000000000000000000000000003\r\n\r\nabc",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [::1]:80\r\nA: \u{FC}\r\n\r\n",
    ]

    @Test(
        "Every split gives the same requests",
        arguments: streams)
    func everySplitGivesSameRequests(_ stream: String) {
        let whole = HTTPTranscript(stream)
        #expect(whole.error == nil)
        #expect(whole.isIdle)
        #expect(!whole.requests.isEmpty && whole.requests.allSatisfy(\.isWhole))
        for pieces in arrivals(of: Array(stream.utf8)) {
            #expect(HTTPTranscript(pieces) == whole, "\(pieces.map(\.count))")
        }
    }

    @Test("Pipelined requests are parsed in order with their bodies")
    func pipelinedRequestsComeInOrderWithTheirBodies() {
        let requests = HTTPTranscript(Self.streams[2]).requests
        #expect(requests.map(\.body) == [Array("hello".utf8), []])
        #expect(requests.map { $0.head.prefix(10) } == ["POST /task", "GET /b htt"])
        #expect(HTTPTranscript(Self.streams[3]).requests.count == 3)
    }

    @Test("Chunks are joined, and trailers dropped")
    func chunksAreJoined() {
        let requests = HTTPTranscript(Self.streams[4]).requests
        #expect(requests.first?.body == Array("hello world".utf8))
        #expect(requests.first?.head.contains("Digest") == false)
        #expect(requests.count == 2)
    }

    @Test(
        "Bytes after the end aren't consumed",
        arguments: [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab",
            streams[5],
        ])
    func nothingIsTakenBeyondTheEnd(_ stream: String) throws {
        for pieces in arrivals(of: Array(stream.utf8), random: 3) {
            var parser = HTTPRequestParser()
            var taken = 0
            var hasEnded = false
            for (number, piece) in pieces.enumerated() where !hasEnded {
                // The upgraded protocol's first bytes follow in the same piece.
                let bytes = number == pieces.count - 1 ? piece + [0x81, 0x80] : piece
                try withExactMemory(bytes) { memory in
                    var input = UnsafeRawBufferPointer(memory)
                    while !hasEnded, let event = try parser.next(&input) {
                        if case .end = event { hasEnded = true }
                    }
                    taken += bytes.count - input.count
                }
            }
            let isIdle = parser.position == .betweenRequests
            #expect(hasEnded && isIdle && taken == stream.utf8.count)
        }
    }

    @Test("The parser reports its position")
    func theParserTellsWhereItIs() throws {
        var parser = HTTPRequestParser()
        var states: [HTTPRequestParser.Position] = []
        for piece in ["\r", "\n", "P", "OST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", "a", "b"] {
            try withExactMemory(Array(piece.utf8)) { memory in
                var input = UnsafeRawBufferPointer(memory)
                while try parser.next(&input) != nil {}
            }
            states.append(parser.position)
        }
        #expect(states == [.inHead, .betweenRequests, .inHead, .inBody, .inBody, .betweenRequests])
    }

    @Test(
        "Keep-alive follows the version and Connection",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true),
            ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: a, close ,b\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: a\r\nConnection: close\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", true),
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
            ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false),
        ])
    func keepAliveFollowsVersionAndConnection(_ stream: String, _ isKeepAlive: Bool) {
        #expect(HTTPTranscript(stream).heads.map(\.isKeepAlive) == [isKeepAlive])
    }

    @Test("100 Continue is expected only in HTTP/1.1 and before a body")
    func continueIsExpectedOnlyBeforeABodyAndIn11() {
        #expect(head("POST / HTTP/1.1", "Expect: 100-continue", "Content-Length: 1")?.expectsContinue == true)
        #expect(head("POST / HTTP/1.1", "Expect: 100-continue", "Transfer-Encoding: chunked")?.expectsContinue == true)
        #expect(head("POST / HTTP/1.1", "Expect: 100-continue")?.expectsContinue == false)
        #expect(head("POST / HTTP/1.0", "Expect: 100-continue", "Content-Length: 1")?.expectsContinue == false)
    }

    @Test(
        "Methods are case-sensitive",
        arguments: [
            ("GET", HTTPMethod.get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("PATCH", .patch),
            ("DELETE", .delete), ("OPTIONS", .options), ("TRACE", .trace), ("get", .other("get")),
            ("BREW", .other("BREW")), ("ABCDEFGHIJKLMNOPQRSTUVWX", .other("ABCDEFGHIJKLMNOPQRSTUVWX")),
        ])
    func methodsAreReadWithTheirCase(_ name: String, _ method: HTTPMethod) {
        #expect(head("\(name) / HTTP/1.1")?.method == method)
        #expect(method.name == name)
    }
}
