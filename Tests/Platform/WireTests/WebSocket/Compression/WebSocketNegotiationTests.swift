import Testing

@testable import Wire

/// Offers of permessage-deflate and their answers (RFC 7692 §5, §7.1).
@Suite struct WebSocketNegotiationTests {
    private func answer(_ fields: [String], _ policy: WebSocketCompression = .full) throws -> String? {
        let lines = ["GET / HTTP/1.1", "Host: a"] + fields.map { "Sec-WebSocket-Extensions: \($0)" }
        let head = try #require(HTTPTranscript(lines.joined(separator: "\r\n") + "\r\n\r\n").heads.first)
        return try WebSocketHandshake.compression(head, policy)?.response
    }

    @Test(
        "An offer is answered with its parameters",
        arguments: [
            ("permessage-deflate", "permessage-deflate"),
            ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
            (
                "permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"
            ),
            (
                "permessage-deflate; client_no_context_takeover", "permessage-deflate; client_no_context_takeover"
            ),
            (
                "permessage-deflate; client_max_window_bits=10; server_max_window_bits=8",
                "permessage-deflate; server_max_window_bits=8; client_max_window_bits=10"
            ),
            ("permessage-deflate; server_max_window_bits=15", "permessage-deflate; server_max_window_bits=15"),
            ("permessage-deflate; server_max_window_bits=\"10\"", "permessage-deflate; server_max_window_bits=10"),
            ("permessage-deflate; server_max_window_bits=\"1\\0\"", "permessage-deflate; server_max_window_bits=10"),
            ("  permessage-deflate ;\tserver_max_window_bits = 9 ,", "permessage-deflate; server_max_window_bits=9"),
            (
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12; "
                    + "client_max_window_bits=9",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12"
            ),
            // The first acceptable offer is used (§5).
            ("permessage-deflate; unknown, permessage-deflate", "permessage-deflate"),
            (
                "x-other, permessage-deflate; server_max_window_bits=7, permessage-deflate; server_max_window_bits=11, "
                    + "permessage-deflate",
                "permessage-deflate; server_max_window_bits=11"
            ),
            (", ,permessage-deflate,,", "permessage-deflate"),
        ])
    func offerIsAnsweredWithItsParameters(_ offer: String, _ expected: String) throws {
        #expect(try answer([offer]) == expected)
    }

    @Test(
        "Without context takeover both ends must reset their windows",
        arguments: [
            "permessage-deflate", "permessage-deflate; client_max_window_bits",
            "permessage-deflate; client_max_window_bits=9", "permessage-deflate; server_no_context_takeover",
        ])
    func withoutContextTakeoverBothEndsMustResetTheirWindows(_ offer: String) throws {
        let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        #expect(try answer([offer], .noContextTakeover) == both)
        #expect(
            try answer([offer + "; server_max_window_bits=9"], .noContextTakeover) == both
                + "; server_max_window_bits=9")
    }

    @Test(
        "An unacceptable offer is declined without an error",
        arguments: [
            // Invalid parameters (§7.1): unknown ones, one that only an answer may have, missing or wrong values, and
            // repeated ones.
            "permessage-deflate; unknown", "permessage-deflate; unknown=1",
            "permessage-deflate; server_max_window_bits",
            "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=08", "permessage-deflate; server_max_window_bits=10.0",
            "permessage-deflate; server_max_window_bits=+9", "permessage-deflate; server_max_window_bits=0x9",
            "permessage-deflate; server_max_window_bits=999999999999999999999",
            "permessage-deflate; server_max_window_bits=x",
            "permessage-deflate; client_max_window_bits=7", "permessage-deflate; client_max_window_bits=16",
            "permessage-deflate; client_max_window_bits=0", "permessage-deflate; server_no_context_takeover=1",
            "permessage-deflate; client_no_context_takeover=true",
            "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
            "permessage-deflate; client_max_window_bits; client_max_window_bits=9",
            "permessage-deflate; Server_No_Context_Takeover",
            "x-webkit-deflate-frame", "permessage-bzip2", "permessage-deflate2", "bbf-usp-protocol; eid=\"a\"", "",
        ])
    func unacceptableOfferIsDeclinedWithoutError(_ offer: String) throws {
        #expect(try answer([offer]) == nil)
        #expect(try answer([offer], .noContextTakeover) == nil)
        #expect(try answer([offer, "permessage-deflate"]) == "permessage-deflate")
    }

    @Test(
        "A malformed list of extensions is refused (RFC 6455 §9.1)",
        arguments: [
            "permessage-deflate;", "permessage-deflate; ;", "; server_no_context_takeover", "permessage-deflate x",
            "permessage-deflate; server_max_window_bits=", "permessage-deflate; =9", "permessage-deflate; a=\"",
            "permessage-deflate; a=\"\"", "permessage-deflate; a=\"b c\"", "permessage-deflate; a=\"b\\", "a/b",
            "a; b=c d",
            "permessage-deflate; a=b=c", "\"permessage-deflate\"", "a; b=\"c\"d", "a, (b)", "perm\u{e9}ssage-deflate",
        ])
    func malformedListOfExtensionsIsRefused(_ field: String) {
        for policy in [WebSocketCompression.none, .noContextTakeover, .full] {
            #expect(throws: WebSocketHandshakeError.badExtensions) { try answer([field], policy) }
            #expect(throws: WebSocketHandshakeError.badExtensions) {
                try answer(["permessage-deflate", field], policy)
            }
        }
        #expect(WebSocketHandshakeError.badExtensions.status.code == 400)
    }

    @Test("Without an offer, or by policy, there is no answer")
    func withoutOfferThereIsNoResponse() throws {
        #expect(try answer([]) == nil)
        #expect(try answer([], .noContextTakeover) == nil)
        #expect(try answer(["permessage-deflate"], .none) == nil)
    }

    @Test("Offers in several fields are one list")
    func offersInSeveralFieldsAreOneList() throws {
        #expect(
            try answer(["x-a, permessage-deflate; unknown", "permessage-deflate; server_max_window_bits=10", "x-b"])
                == "permessage-deflate; server_max_window_bits=10")
    }

    @Test(
        "Only the first dozens of extensions and parameters are read",
        arguments: ["x, ", "x; a, ", "x; a=\"b\"; c, "])
    func many(_ other: String) throws {
        let few = String(repeating: other, count: 62 / other.split(separator: ";").count)
        #expect(try answer([few + "permessage-deflate"]) == "permessage-deflate")
        #expect(try answer([few + few + "permessage-deflate"]) == nil)
        #expect(try answer([few, few, "permessage-deflate"]) == nil)
        #expect(try answer([few + few + "not an extension"]) == nil)
        // The acceptable offer comes first, so the others aren't read.
        #expect(try answer(["permessage-deflate, " + few + few]) == "permessage-deflate")
        let parameters = String(repeating: "; a", count: 1000)
        #expect(try answer(["permessage-deflate" + parameters]) == nil)
    }

    @Test("The answer is part of the head")
    func answerIsPartOfHead() throws {
        let request = """
            GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=10\r\n\r

            """
        let head = try #require(HTTPTranscript(request).heads.first)
        let taken = try WebSocketHandshake.accept(head, .full)
        #expect(taken.compression?.serverMaxWindowBits == 10)
        let lines = String(decoding: taken.response, as: UTF8.self).split(separator: "\r\n")
        #expect(lines.last == "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=10")
        let declined = try WebSocketHandshake.accept(head, .none)
        #expect(declined.compression == nil)
        #expect(!String(decoding: declined.response, as: UTF8.self).contains("Extensions"))
    }
}
