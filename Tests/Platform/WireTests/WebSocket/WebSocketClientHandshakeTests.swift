import Testing

@testable import Wire

@Suite struct WebSocketClientHandshakeTests {
    private func head(_ fields: [HTTPField], status: HTTPStatus = .switchingProtocols) -> HTTPResponseHead {
        HTTPResponseHead(status: status, fields: fields)
    }

    private let accepting = [HTTPField("upgrade", "WebSocket"), HTTPField("connection", "keep-alive, Upgrade")]

    /// The key of RFC 6455 §1.3: "the sample nonce".
    private let handshake = WebSocketClientHandshake(
        subprotocols: ["b", "a"],
        nonce: Array("the sample nonce".utf8).withUnsafeBytes {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        })

    @Test("The RFC's example is accepted")
    func example() throws {
        #expect(handshake.key == "dGhlIHNhbXBsZSBub25jZQ==")
        let fields = accepting + [HTTPField("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")]
        #expect(try handshake.accept(head(fields)) == nil)
        #expect(try handshake.accept(head(fields + [HTTPField("Sec-WebSocket-Protocol", "a")])) == "a")
    }

    @Test("The client accepts only the response to its own key")
    func bothSides() throws {
        let handshake = WebSocketClientHandshake(subprotocols: ["a"])
        let request = handshake.request("/socket?id=ü", host: "a:80", fields: [HTTPField("X", "y\r\nZ: z")])
        let text = String(decoding: request, as: UTF8.self)
        #expect(text.hasPrefix("GET /socket?id=%C3%BC HTTP/1.1\r\nHost: a:80\r\n"))
        #expect(text.contains("X: y  Z: z\r\n"))
        let heads = HTTPTranscript([request]).heads
        let accepted = try WebSocketHandshake.accept(try #require(heads.first), subprotocol: "a")
        var parser = HTTPResponseParser()
        let answer = try accepted.response.withUnsafeBytes { bytes -> HTTPResponseHead? in
            var bytes = bytes
            guard case .head(let head)? = try parser.next(&bytes) else { return nil }
            return head
        }
        #expect(try handshake.accept(try #require(answer)) == "a")
        #expect(throws: WebSocketAnswerError.wrongAccept) {
            try WebSocketClientHandshake().accept(try #require(answer))
        }
    }

    @Test("Each violation is refused with its name")
    func refusals() {
        let accept = HTTPField("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        func error(_ head: HTTPResponseHead) -> WebSocketAnswerError? {
            do throws(WebSocketAnswerError) {
                _ = try handshake.accept(head)
                return nil
            } catch { return error }
        }
        #expect(error(head(accepting + [accept], status: .ok)) == .notSwitching)
        #expect(error(head([accepting[0], accept])) == .noUpgrade)
        #expect(error(head([accepting[1], accept])) == .noUpgrade)
        #expect(error(head(accepting)) == .wrongAccept)
        #expect(error(head(accepting + [accept, accept])) == .wrongAccept)
        let deflate = HTTPField("Sec-WebSocket-Extensions", "permessage-deflate")
        #expect(error(head(accepting + [accept, deflate])) == .foreignExtension)
        #expect(error(head(accepting + [accept, HTTPField("Sec-WebSocket-Protocol", "A")])) == .foreignSubprotocol)
    }
}
