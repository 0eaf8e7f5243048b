import Testing

@testable import Wire

@Suite struct HTTPLimitsTests {
    private let limits = HTTPLimits(headBytes: 200, targetBytes: 40, fields: 3, bodyBytes: 20, chunkLineBytes: 8)

    /// Checks that every way of splitting the text has the same outcome, and returns it.
    private func outcome(_ text: String, limits: HTTPLimits? = nil) -> HTTPParseError? {
        let limits = limits ?? self.limits
        let whole = HTTPTranscript(text, limits: limits)
        for pieces in arrivals(of: Array(text.utf8), random: 5) {
            #expect(HTTPTranscript(pieces, limits: limits) == whole)
        }
        if whole.error == nil { #expect(whole.requests.last?.isWhole == true) }
        return whole.error
    }

    private func chunked(_ chunks: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
    }

    @Test("A head may fill its limit exactly")
    func headMayFillItsLimitExactly() {
        let start = "GET / HTTP/1.1\r\nHost: a\r\nA: "
        let room = 200 - start.utf8.count - 4
        #expect(outcome(start + String(repeating: "x", count: room) + "\r\n\r\n") == nil)
        #expect(outcome(start + String(repeating: "x", count: room + 1) + "\r\n\r\n") == .headTooLarge)
        #expect(outcome(start + String(repeating: "x", count: 1000)) == .headTooLarge)
        #expect(outcome(start + String(repeating: "x", count: 1000) + "\n") == .headTooLarge)
    }

    @Test("A target may fill its limit exactly")
    func targetMayFillItsLimitExactly() {
        func request(_ length: Int) -> String {
            "GET /\(String(repeating: "x", count: length - 1)) HTTP/1.1\r\nHost: a\r\n\r\n"
        }
        #expect(outcome(request(40)) == nil)
        #expect(outcome(request(41)) == .targetTooLong)
        #expect(outcome(request(100)) == .targetTooLong)
        #expect(outcome("GET /" + String(repeating: "x", count: 100)) == .targetTooLong)
        let longest = "ABCDEFGHIJKLMNOPQRSTUVWX /\(String(repeating: "x", count: 39)) HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(outcome(longest) == nil)
        #expect(HTTPParseError.targetTooLong.status == 414 && HTTPParseError.headTooLarge.status == 431)
    }

    @Test("Fields are limited in number")
    func fieldsAreCounted() {
        let start = "GET / HTTP/1.1\r\nHost: a\r\n"
        #expect(outcome(start + "A: b\r\nA: b\r\n\r\n") == nil)
        #expect(outcome(start + "A: b\r\nA: b\r\nA: b\r\n\r\n") == .tooManyFields)
    }

    @Test("A body may fill its limit exactly")
    func bodyMayFillItsLimitExactly() {
        func request(_ length: Int) -> String {
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n\(String(repeating: "x", count: length))"
        }
        #expect(outcome(request(20)) == nil)
        #expect(outcome(request(21)) == .bodyTooLarge)
        #expect(
            HTTPTranscript("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 21\r\n\r\n", limits: limits).error
                == .bodyTooLarge)
    }

    @Test("Chunks add up to the body's limit")
    func chunksAddUpToBodysLimit() {
        #expect(outcome(chunked("a\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n")) == nil)
        #expect(outcome(chunked("a\r\n0123456789\r\nb\r\n")) == .bodyTooLarge)
        #expect(outcome(chunked("15\r\n")) == .bodyTooLarge)
    }

    @Test("A chunk's line is bounded")
    func aChunksLineIsBounded() {
        #expect(outcome(chunked("1;345678\r\nx\r\n00000000\r\n\r\n")) == nil)
        #expect(outcome(chunked("1;3456789\r\nx\r\n")) == .chunkLineTooLong)
        #expect(outcome(chunked("000000001\r\n")) == .chunkLineTooLong)
    }

    @Test("Chunk extensions are bounded together")
    func chunkExtensionsTogetherAreBounded() {
        let limits = HTTPLimits(headBytes: 64, bodyBytes: 100, chunkLineBytes: 34)
        let chunk = "1;\(String(repeating: "x", count: 32))\r\na\r\n"
        let head = "P / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(outcome(head + chunk + chunk + "0\r\n\r\n", limits: limits) == nil)
        #expect(outcome(head + chunk + chunk + "0;x\r\n\r\n", limits: limits) == .chunkExtensionsTooLarge)
    }

    @Test("Trailers are bounded")
    func trailersAreBounded() {
        #expect(outcome(chunked("0\r\nA: b\r\nA: b\r\nA: b\r\n\r\n")) == nil)
        #expect(outcome(chunked("0\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n\r\n")) == .tooManyFields)
        // `A:`, the value, and two line ends.
        #expect(outcome(chunked("0\r\nA:\(String(repeating: "x", count: 194))\r\n\r\n")) == nil)
        #expect(outcome(chunked("0\r\nA:\(String(repeating: "x", count: 195))\r\n\r\n")) == .headTooLarge)
    }

    @Test("Limits out of range become valid")
    func limitsOutOfRangeAreBroughtIntoIt() {
        let limits = HTTPLimits(headBytes: 1_000_000, targetBytes: -1, fields: 0, bodyBytes: -1, chunkLineBytes: 0)
        #expect(limits == HTTPLimits(headBytes: 65_535, targetBytes: 1, fields: 1, bodyBytes: 0, chunkLineBytes: 1))
    }

    @Test("A head of the largest limit has correct positions")
    func headOfLargestLimitHasCorrectPositions() {
        let limits = HTTPLimits(headBytes: 65_535, targetBytes: 10)
        let start = "GET / HTTP/1.1\r\nHost: a\r\nA: "
        let end = "\r\nLast: z\r\n\r\n"
        let filler = String(repeating: "x", count: 65_535 - start.utf8.count - end.utf8.count)
        let transcript = HTTPTranscript(start + filler + end, limits: limits)
        #expect(transcript.heads.first?.headers.value("last") == "z")
        #expect(transcript.heads.first?.headers.value("a") == filler)
    }

    @Test(
        "A head that arrives byte by byte is scanned once",
        .timeLimit(.minutes(1)))
    func headThatArrivesByteByByteIsScannedOnce() {
        // A thousand lines of 64 bytes, parsed byte by byte. Quadratic work would be two thousand million steps.
        let limits = HTTPLimits(headBytes: 65_535, fields: 1000)
        let line = "A: \(String(repeating: "x", count: 59))\r\n"
        let stream = "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: line, count: 999) + "\r\n"
        let transcript = HTTPTranscript(Array(stream.utf8).map { [$0] }, limits: limits)
        #expect(transcript.error == nil)
        #expect(transcript.heads.first?.headers.count == 1000)
    }
}
