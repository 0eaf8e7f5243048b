import Testing

@testable import Wire

@Suite struct HTTPRequestRefusalTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        let error: HTTPParseError
        let status: Int

        init(_ text: String, _ error: HTTPParseError, _ status: Int = 400) {
            self.init(Array(text.utf8), error, status)
        }

        init(_ bytes: [UInt8], _ error: HTTPParseError, _ status: Int = 400) {
            self.bytes = bytes
            self.error = error
            self.status = status
        }

        var testDescription: String {
            "\(error): \(String(decoding: bytes.prefix(60), as: UTF8.self).debugDescription)"
        }
    }

    private static func get(_ fields: String) -> String { "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n" }
    private static func target(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n" }
    private static func host(_ host: String) -> String { "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n" }
    private static func chunks(_ chunks: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
    }

    static let requestLines: [Refusal] = [
        Refusal("GET /\r\n", .requestLineMalformed),
        Refusal("GET\r\n", .requestLineMalformed),
        Refusal("GET  / HTTP/1.1\r\n", .requestLineMalformed),
        Refusal("GET /  HTTP/1.1\r\n", .requestLineMalformed),
        Refusal("GET / a HTTP/1.1\r\n", .requestLineMalformed),
        Refusal("GET / HTTP/1.1 \r\n", .requestLineMalformed),
        Refusal("GET\t/\tHTTP/1.1\r\n", .requestLineMalformed),
        Refusal("GET / http/1.1\r\n", .requestLineMalformed),
        Refusal("GET / HTTP/1\r\n", .requestLineMalformed),
        Refusal("GET / HTTP/1.10\r\n", .requestLineMalformed),
        Refusal("GET / HTTP/a.b\r\n", .requestLineMalformed),
        Refusal("GET / XTTP/1.1\r\n", .requestLineMalformed),
        Refusal(" GET / HTTP/1.1\r\n", .requestLineMalformed),
        Refusal("G(T / HTTP/1.1\r\n", .requestLineMalformed),
        Refusal("GE\u{0} / HTTP/1.1\r\n", .requestLineMalformed),
        Refusal([0x16, 0x03, 0x01], .requestLineMalformed),
        Refusal([0x00], .requestLineMalformed),
        Refusal([0xFF], .requestLineMalformed),
        Refusal("ABCDEFGHIJKLMNOPQRSTUVWXY / HTTP/1.1\r\n", .methodTooLong, 501),
        Refusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .versionNotSupported, 505),
        Refusal("GET / HTTP/0.9\r\n", .versionNotSupported, 505),
        Refusal("GET / HTTP/3.0\r\n", .versionNotSupported, 505),
        Refusal("\r\n\r\nGET / HTTP/1.1\r\n", .emptyLines),
        Refusal("\nGET / HTTP/1.1\r\n", .bareLineFeed),
        Refusal("\rGET / HTTP/1.1\r\n", .bareCarriageReturn),
    ]

    static let targets: [Refusal] = [
        Refusal(target("/a\u{0}b"), .targetMalformed),
        Refusal(target("/a\u{1}b"), .targetMalformed),
        Refusal(target("/a\tb"), .targetMalformed),
        Refusal(target("/a\u{7F}"), .targetMalformed),
        Refusal(target("/ä"), .targetMalformed),
        Refusal(target("/a#b"), .targetMalformed),
        Refusal(target("a"), .targetFormWrong),
        Refusal(target("*"), .targetFormWrong),
        Refusal(target("*a"), .targetFormWrong),
        Refusal(target("ftp://a/"), .targetFormWrong),
        Refusal(target("http:/a"), .targetFormWrong),
        Refusal(target("http://"), .hostInvalid),
        Refusal(target("http:///a"), .hostInvalid),
        Refusal(target("http://me@a/"), .hostInvalid),
        Refusal(target("http://a:b/"), .hostInvalid),
        Refusal("CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", .targetFormWrong),
        Refusal("CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", .targetFormWrong),
        Refusal("CONNECT a: HTTP/1.1\r\nHost: a\r\n\r\n", .targetFormWrong),
        Refusal(target("/%"), .badEscape),
        Refusal(target("/%4"), .badEscape),
        Refusal(target("/%4g"), .badEscape),
        Refusal(target("/%%41"), .badEscape),
        Refusal(target("/%u0041"), .badEscape),
        Refusal(target("/?a=%"), .badEscape),
        Refusal(target("/?%zz"), .badEscape),
        Refusal(target("/%00"), .escapedNUL),
        Refusal(target("/?a=%00"), .escapedNUL),
        Refusal(target("/%FF"), .targetNotUTF8),
        Refusal(target("/%C0%AF"), .targetNotUTF8),
        Refusal(target("/%ED%A0%80"), .targetNotUTF8),
        Refusal(target("/%E2%82"), .targetNotUTF8),
        Refusal(target("/%E2/%82%AC"), .targetNotUTF8),
        Refusal(target("/%E2?%82%AC"), .targetNotUTF8),
        Refusal(target("/?a=%C3&b=%A4"), .targetNotUTF8),
    ]

    static let lines: [Refusal] = [
        Refusal("GET / HTTP/1.1\n", .bareLineFeed),
        Refusal("GET / HTTP/1.1\r\nHost: a\n", .bareLineFeed),
        Refusal("GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineFeed),
        Refusal("GET / HTTP/1.1\rHost: a\r\n", .bareCarriageReturn),
        Refusal(get("A: b\rc"), .bareCarriageReturn),
        Refusal(get("A: b\r\r\n"), .bareCarriageReturn),
        Refusal(get("A: b\nC: d"), .bareLineFeed),
        Refusal(get(" A: b"), .foldedLine),
        Refusal(get("A: b\r\n c"), .foldedLine),
        Refusal(get("A: b\r\n\tc"), .foldedLine),
        Refusal("GET / HTTP/1.1\r\n Host: a\r\n", .foldedLine),
        Refusal(get("A : b"), .spaceBeforeColon),
        Refusal(get("Content-Length\t: 5"), .spaceBeforeColon),
        Refusal(get("Transfer-Encoding : chunked"), .spaceBeforeColon),
        Refusal(get(": b"), .badFieldName),
        Refusal(get("A"), .badFieldName),
        Refusal(get("A b: c"), .badFieldName),
        Refusal(get("A\u{0}: c"), .badFieldName),
        Refusal(get("A(: c"), .badFieldName),
        Refusal(get("Ä: c"), .badFieldName),
        Refusal(get("A: \u{0}"), .badFieldValue),
        Refusal(get("A: b\u{1}c"), .badFieldValue),
        Refusal(get("A: b\u{B}"), .badFieldValue),
        Refusal(get("A: \u{7F}"), .badFieldValue),
    ]

    static let hosts: [Refusal] = [
        Refusal("GET / HTTP/1.1\r\n\r\n", .hostMissing),
        Refusal("GET http://a/ HTTP/1.1\r\n\r\n", .hostMissing),
        Refusal(host("a\r\nHost: a"), .hostRepeated),
        Refusal(host("a\r\nhOST: b"), .hostRepeated),
        Refusal("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", .hostRepeated),
        Refusal(host(""), .hostInvalid),
        Refusal(host(":80"), .hostInvalid),
        Refusal(host("a, b"), .hostInvalid),
        Refusal(host("a b"), .hostInvalid),
        Refusal(host("a/b"), .hostInvalid),
        Refusal(host("me@a"), .hostInvalid),
        Refusal(host("a:x"), .hostInvalid),
        Refusal(host("a:+80"), .hostInvalid),
        Refusal(host("a:65536"), .hostInvalid),
        Refusal(host("a:80:80"), .hostInvalid),
        Refusal(host("::1"), .hostInvalid),
        Refusal(host("[::1"), .hostInvalid),
        Refusal(host("[::g]"), .hostInvalid),
        Refusal(host("[]"), .hostInvalid),
        Refusal(host("[::1]a"), .hostInvalid),
        Refusal(host("[fe80::1%25eth0]"), .hostInvalid),
        Refusal(host("a%zz"), .hostInvalid),
        Refusal(host("ä"), .hostInvalid),
    ]

    static let framings: [Refusal] = [
        Refusal(get("Content-Length: 5\r\nTransfer-Encoding: chunked"), .lengthWithTransferEncoding),
        Refusal(get("Transfer-Encoding: chunked\r\nContent-Length: 0"), .lengthWithTransferEncoding),
        Refusal(get("Transfer-Encoding: gzip\r\nContent-Length: 5"), .lengthWithTransferEncoding),
        Refusal(get("Content-Length: 5\r\nContent-Length: 6"), .repeatedContentLength),
        Refusal(get("Content-Length: 5\r\ncontent-length: 5"), .repeatedContentLength),
        Refusal(get("Content-Length: 5, 5"), .badContentLength),
        Refusal(get("Content-Length: 5,6"), .badContentLength),
        Refusal(get("Content-Length:"), .badContentLength),
        Refusal(get("Content-Length: +5"), .badContentLength),
        Refusal(get("Content-Length: -5"), .badContentLength),
        Refusal(get("Content-Length: 0x5"), .badContentLength),
        Refusal(get("Content-Length: 5 5"), .badContentLength),
        Refusal(get("Content-Length: 5.0"), .badContentLength),
        Refusal(get("Content-Length: ５"), .badContentLength),
        Refusal(get("Content-Length: 9223372036854775808"), .badContentLength),
        Refusal(get("Content-Length: 18446744073709551621"), .badContentLength),
        Refusal(get("Content-Length: 99999999999999999999999999"), .badContentLength),
        Refusal(get("Content-Length: 9223372036854775807"), .bodyTooLarge, 413),
        Refusal("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInOldVersion),
        Refusal(get("Transfer-Encoding: gzip"), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: gzip, chunked"), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: chunked, gzip"), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: identity"), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: xchunked"), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: chunked;a=b"), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: \"chunked\""), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"), .unknownTransferEncoding, 501),
        Refusal(get("Transfer-Encoding: chunked, chunked"), .badTransferEncoding),
        Refusal(get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), .badTransferEncoding),
        Refusal(get("Transfer-Encoding: chunked\r\nTransfer-Encoding:"), .badTransferEncoding),
        Refusal(get("Transfer-Encoding:"), .badTransferEncoding),
        Refusal(get("Transfer-Encoding: ,"), .badTransferEncoding),
        Refusal(get("Expect: 200-ok"), .expectationUnknown, 417),
        Refusal(get("Expect:"), .expectationUnknown, 417),
        Refusal(get("Expect: 100-continue, more"), .expectationUnknown, 417),
    ]

    static let bodies: [Refusal] = [
        Refusal(chunks("\r\n"), .badChunkSize),
        Refusal(chunks(";a\r\n"), .badChunkSize),
        Refusal(chunks("g\r\n"), .badChunkSize),
        Refusal(chunks("+5\r\n"), .badChunkSize),
        Refusal(chunks("-5\r\n"), .badChunkSize),
        Refusal(chunks(" 5\r\n"), .badChunkSize),
        Refusal(chunks("5 \r\n"), .badChunkSize),
        Refusal(chunks("5 ;a\r\n"), .badChunkSize),
        Refusal(chunks("0x5\r\n"), .badChunkSize),
        Refusal(chunks("5_0\r\n"), .badChunkSize),
        Refusal(chunks("5\n"), .bareLineFeed),
        Refusal(chunks("5;a\n"), .bareLineFeed),
        Refusal(chunks("5\rhello"), .bareCarriageReturn),
        Refusal(chunks("5;a\rb"), .bareCarriageReturn),
        Refusal(chunks("5;a\u{0}\r\n"), .badChunkExtension),
        Refusal(chunks("ffffffffffffffff\r\n"), .chunkSizeOverflow),
        Refusal(chunks("10000000000000005\r\n"), .chunkSizeOverflow),
        Refusal(chunks("7fffffffffffffff\r\n"), .chunkSizeOverflow),
        Refusal(chunks("3ffffffffffffff\r\n"), .bodyTooLarge, 413),
        Refusal(chunks("5\r\nhelloX"), .badChunkEnd),
        Refusal(chunks("5\r\nhello\n"), .badChunkEnd),
        Refusal(chunks("5\r\nhello\rX"), .badChunkEnd),
        Refusal(chunks("0\r\nX\r\n"), .badFieldName),
        Refusal(chunks("0\r\n A: b\r\n"), .foldedLine),
        Refusal(chunks("0\r\nA: b\r\n c\r\n"), .foldedLine),
        Refusal(chunks("0\r\nA : b\r\n"), .spaceBeforeColon),
        Refusal(chunks("0\r\n: b\r\n"), .badFieldName),
        Refusal(chunks("0\r\nA\u{0}: b\r\n"), .badFieldName),
        Refusal(chunks("0\r\nA: \u{0}\r\n"), .badFieldValue),
        Refusal(chunks("0\r\nA: b\n"), .bareLineFeed),
        Refusal(chunks("0\r\n\n"), .bareLineFeed),
        Refusal(chunks("0\r\nA: b\rc"), .bareCarriageReturn),
        Refusal(chunks("0\r\n\rX"), .bareCarriageReturn),
    ]

    static var all: [Refusal] { requestLines + targets + lines + hosts + framings + bodies }

    @Test(
        "An invalid request is refused for its reason in every split",
        arguments: all)
    func isRefusedForItsReasonInEverySplit(_ refusal: Refusal) {
        let whole = HTTPTranscript([refusal.bytes])
        #expect(whole.error == refusal.error)
        #expect(refusal.error.status == refusal.status)
        for pieces in arrivals(of: refusal.bytes, random: 3) {
            #expect(HTTPTranscript(pieces) == whole, "\(pieces.map(\.count))")
        }
    }

    @Test("Every reason has its status and a unique text")
    func everyReasonHasItsStatusAndUniqueText() {
        let reasons = HTTPParseError.allCases.map(\.reason)
        #expect(Set(reasons).count == reasons.count)
        #expect(reasons.allSatisfy { $0.hasPrefix("RFC ") && $0.hasSuffix(".") })
    }

    @Test("An error is repeated at every later call")
    func errorIsRepeatedAtEveryLaterCall() {
        var parser = HTTPRequestParser()
        for text in ["GET\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""] {
            withExactMemory(Array(text.utf8)) { memory in
                var input = UnsafeRawBufferPointer(memory)
                #expect(throws: HTTPParseError.requestLineMalformed) { _ = try parser.next(&input) }
            }
        }
        let position = parser.position
        #expect(position == .nowhere)
    }
}
