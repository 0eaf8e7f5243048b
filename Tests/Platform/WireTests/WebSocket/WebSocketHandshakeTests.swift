import Testing

@testable import Wire

@Suite struct WebSocketHandshakeTests {
    private static let good = [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    ]

    private func handshake(_ fields: [String], requestLine: String = "GET /chat HTTP/1.1") -> HTTPRequestHead? {
        HTTPTranscript(([requestLine, "Host: a"] + fields).joined(separator: "\r\n") + "\r\n\r\n").heads.first
    }

    private static let answer = """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
        \r

        """

    private func answer(to head: HTTPRequestHead) throws -> String {
        String(decoding: try WebSocketHandshake.accept(head).response, as: UTF8.self)
    }

    @Test("The example of RFC 6455, section 1.3, is answered exactly")
    func exampleOfRFC6455Section13IsAnsweredExactly() throws {
        let head = try #require(handshake(Self.good))
        #expect(try answer(to: head) == Self.answer)
    }

    @Test("A thread's digest serves several handshakes")
    func threadsDigestServesSeveralHandshakes() throws {
        let digest = HandshakeDigest()
        let head = try #require(handshake(Self.good))
        let other = try #require(
            handshake(Self.good.map { $0.replacing("dGhlIHNhbXBsZSBub25jZQ==", with: "AQIDBAUGBwgJCgsMDQ4PEA==") }))
        for head in [head, other, head] {
            let response = try WebSocketHandshake.accept(head, with: digest).response
            #expect(String(decoding: response, as: UTF8.self) == (try answer(to: head)))
        }
        #expect(try answer(to: other) != Self.answer)
    }

    @Test("Names and tokens ignore case, and are found in lists")
    func namesAndTokensAreFoundInEitherCaseAndInLists() throws {
        let head = try #require(
            handshake([
                "UPGRADE: h2c, WebSocket", "connection: keep-alive, UPGRADE",
                "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
                "sec-websocket-version: 13", "Sec-WebSocket-Extensions: permessage-deflate",
            ]))
        #expect(try answer(to: head) == Self.answer)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let name: String
        var requestLine = "GET /chat HTTP/1.1"
        var without: Int?
        var with: String?
        let error: WebSocketHandshakeError
        var status = 400
        var testDescription: String { name }
    }

    static let refusals: [Refusal] = [
        Refusal(name: "no upgrade", without: 0, error: .noUpgrade, status: 426),
        Refusal(name: "another upgrade", without: 0, with: "Upgrade: h2c", error: .noUpgrade, status: 426),
        Refusal(name: "a POST", requestLine: "POST /chat HTTP/1.1", error: .notGet),
        Refusal(name: "a HEAD", requestLine: "HEAD /chat HTTP/1.1", error: .notGet),
        Refusal(name: "HTTP/1.0", requestLine: "GET /chat HTTP/1.0", error: .oldHTTP),
        Refusal(name: "a body", with: "Content-Length: 1", error: .hasBody),
        Refusal(name: "no Connection", without: 1, error: .noConnectionUpgrade),
        Refusal(name: "another Connection", without: 1, with: "Connection: close", error: .noConnectionUpgrade),
        Refusal(name: "no version", without: 3, error: .badVersion, status: 426),
        Refusal(name: "an old version", without: 3, with: "Sec-WebSocket-Version: 8", error: .badVersion, status: 426),
        Refusal(name: "two versions", with: "Sec-WebSocket-Version: 8", error: .badVersion, status: 426),
        Refusal(name: "no key", without: 2, error: .badKey),
        Refusal(name: "two keys", with: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", error: .badKey),
        Refusal(name: "an empty key", without: 2, with: "Sec-WebSocket-Key:", error: .badKey),
        Refusal(name: "a key of 15 bytes", without: 2, with: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j", error: .badKey),
        Refusal(
            name: "a key of 17 bytes", without: 2, with: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZTE=", error: .badKey),
        Refusal(name: "no base64", without: 2, with: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j*Q==", error: .badKey),
    ]

    @Test(
        "An invalid handshake is refused as the RFC requires",
        arguments: refusals)
    func isRefusedByTheBook(_ refusal: Refusal) throws {
        var fields = Self.good
        if let without = refusal.without { fields.remove(at: without) }
        if let with = refusal.with { fields.append(with) }
        let head = try #require(handshake(fields, requestLine: refusal.requestLine))
        #expect(throws: refusal.error) { try answer(to: head) }
        #expect(refusal.error.status.code == refusal.status)
        let offered = refusal.error.fields.map { "\($0.name): \($0.value)" }
        let offer = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
        #expect(offered == (refusal.status == 426 ? offer : []))
    }
}
