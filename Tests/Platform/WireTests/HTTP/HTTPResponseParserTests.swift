import Testing

@testable import Wire

/// The parser's result for a response that arrived in these pieces.
private struct ResponseTranscript: Equatable {
    var heads: [HTTPResponseHead] = []
    var body: [UInt8] = []
    var isWhole = false
    /// The bytes after the response.
    var rest: [UInt8] = []
    var error: HTTPResponseError?

    init(_ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits(), ends: Bool = true) {
        var parser = HTTPResponseParser(limits: limits)
        do throws(HTTPResponseError) {
            for piece in pieces {
                let result = piece.withUnsafeBytes { bytes in
                    Result { () throws(HTTPResponseError) in try read(bytes, with: &parser) }
                }
                try result.get()
            }
            if ends {
                try parser.inputEnded()
                isWhole = true
            }
        } catch {
            self.error = error
        }
    }

    private mutating func read(
        _ bytes: UnsafeRawBufferPointer, with parser: inout HTTPResponseParser
    ) throws(HTTPResponseError) {
        var bytes = bytes
        while let event = try parser.next(&bytes) {
            switch event {
            case .head(let head): heads.append(head)
            case .body(let part): body += part
            case .end: isWhole = true
            }
        }
        rest += bytes
    }
}

@Suite struct HTTPResponseParserTests {
    static let responses: [(text: String, status: Int, body: String, rest: String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", ""),
        ("HTTP/1.1 200\r\nConnection: close\r\n\r\nto the end", 200, "to the end", ""),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, "", ""),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, "", ""),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\n{}", 409,
            "{}", ""
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", 200,
            "hello world", ""
        ),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\u{1}\u{2}", 101, "", "\u{1}\u{2}"),
    ]

    @Test("A response doesn't depend on how its bytes are split", arguments: responses)
    func splits(text: String, status: Int, body: String, rest: String) {
        for pieces in arrivals(of: Array(text.utf8)) {
            let transcript = ResponseTranscript(pieces)
            #expect(transcript.error == nil)
            #expect(transcript.heads.map(\.status.code) == [status])
            #expect(transcript.body == Array(body.utf8))
            #expect(transcript.rest == Array(rest.utf8))
            #expect(transcript.isWhole)
        }
    }

    @Test(
        "Bytes that aren't HTTP are refused",
        arguments: [
            ("SSH-2.0-OpenSSH_9\r\n\r\n", HTTPResponseError.badStatusLine),
            ("HTTP/2 200 OK\r\n\r\n", .badStatusLine),
            ("HTTP/1.1 099 OK\r\n\r\n", .badStatusLine),
            ("HTTP/1.1 200 O\rK\r\n\r\n", .badStatusLine),
            ("HTTP/1.1 200 O\u{0}K\r\n\r\n", .badStatusLine),
            ("\r\n\r\n", .badStatusLine),
            ("HTTP/1.1 200 OK\n\n", .malformed(.bareLineFeed)),
            ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", .malformed(.spaceBeforeColon)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", .malformed(.repeatedContentLength)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", .malformed(.unknownTransferEncoding)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .malformed(.badChunkSize)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", .cutShort),
            ("HTTP/1.1 200 O", .cutShort),
            ("", .cutShort),
        ])
    func refusals(text: String, error: HTTPResponseError) {
        for pieces in arrivals(of: Array(text.utf8), random: 3) {
            #expect(ResponseTranscript(pieces).error == error)
        }
    }

    @Test("Each limit holds for announced and received sizes")
    func limits() {
        let limits = HTTPLimits(headBytes: 64, fields: 2, bodyBytes: 4)
        func error(_ text: String) -> HTTPResponseError? {
            ResponseTranscript([Array(text.utf8)], limits: limits, ends: false).error
        }
        let head = "HTTP/1.1 200 OK\r\n"
        #expect(error(head + "A: b\r\nC: d\r\nE: f\r\n\r\n") == .malformed(.tooManyFields))
        #expect(error(head + "A: " + String(repeating: "b", count: 50)) == .malformed(.headTooLarge))
        #expect(error(head + "Content-Length: 5\r\n\r\n") == .malformed(.bodyTooLarge))
        #expect(error(head + "\r\n12345") == .malformed(.bodyTooLarge))
        #expect(error(head + "\r\n1234") == nil)
    }

    @Test("Interim responses are skipped up to a limit")
    func interim() {
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        let last = "HTTP/1.1 204 No Content\r\n\r\n"
        let most = HTTPResponseParser.maxInterimHeads
        func transcript(_ count: Int) -> ResponseTranscript {
            ResponseTranscript([Array((String(repeating: interim, count: count) + last).utf8)])
        }
        #expect(transcript(most).heads.map(\.status.code) == [204])
        #expect(transcript(most + 1).error == .tooManyInterimHeads)
        // The limit also applies if all interim heads are in one piece.
        #expect(transcript(500_000).error == .tooManyInterimHeads)
    }

    @Test("Field names ignore case")
    func fields() {
        let head = ResponseTranscript([Array("HTTP/1.1 204 X\r\nRetry-after: 3\r\nA: 1\r\na: 2, Two\r\n\r\n".utf8)])
            .heads[0]
        #expect(head.value("Retry-After") == "3")
        #expect(head.value("A") == nil)
        #expect(head.values("A") == ["1", "2, Two"])
        #expect(head.contains("A", token: "two"))
        #expect(!head.contains("A", token: "tw"))
    }
}
