import COpenSSL

/// The server's side of the opening handshake (RFC 6455 §4.2).
package enum WebSocketHandshake {
    /// Whether the request asks for a WebSocket, rightly or not: `Upgrade` lists `websocket`.
    package static func isAsked(by head: HTTPRequestHead) -> Bool {
        head.headers.contains("Upgrade", token: "websocket")
    }

    /// The value for `Sec-WebSocket-Accept`, if `head` is a handshake. No subprotocol is taken up.
    package static func accept(_ head: HTTPRequestHead) throws(WebSocketHandshakeError) -> String {
        let headers = head.headers
        guard isAsked(by: head) else { throw .noUpgrade }
        guard head.method == .get else { throw .notGet }
        guard head.version == .http11 else { throw .oldHTTP }
        guard head.bodyFraming == .none else { throw .hasBody }
        guard headers.contains("Connection", token: "upgrade") else { throw .noConnectionUpgrade }
        guard headers.onlyValue("Sec-WebSocket-Version") == "13" else { throw .badVersion }
        guard let key = headers.onlyValue("Sec-WebSocket-Key"), isKey(key) else { throw .badKey }
        return try acceptValue(forKey: key)
    }

    /// What to answer to the offers of compression in `head`; `nil`: messages are not compressed. Throws when they are not
    /// written as §9.1 has it, whatever the policy; offers that can't be taken are no error (RFC 7692 §5).
    package static func compression(
        _ head: HTTPRequestHead, _ policy: WebSocketCompression
    ) throws(WebSocketHandshakeError) -> WebSocketDeflateParameters? {
        var offers: [WebSocketExtensionOffer] = []
        for field in head.headers.values("Sec-WebSocket-Extensions") {
            offers += try WebSocketExtensionOffer.list(field)
        }
        return WebSocketDeflateParameters(firstAcceptable: offers, policy)
    }

    /// The head that answers a handshake: `101` with everything that §4.2.2 asks for.
    package static func encodeAnswer(
        accept: String, compression: WebSocketDeflateParameters? = nil, into buffer: inout [UInt8]
    ) {
        buffer.reserveCapacity(256)
        HTTPResponseEncoder.append(unvarying, to: &buffer)
        HTTPResponseEncoder.field("Sec-WebSocket-Accept", accept, into: &buffer)
        if let compression {
            HTTPResponseEncoder.field("Sec-WebSocket-Extensions", compression.answer, into: &buffer)
        }
        HTTPResponseEncoder.endOfHead(into: &buffer)
    }

    /// The base64 of the SHA-1 of the key and the protocol's own UUID (§4.2.2). SHA-1 guards nothing here; it shows that the
    /// server understood. A system that forbids it altogether is an error.
    static func acceptValue(forKey key: String) throws(WebSocketHandshakeError) -> String {
        var text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        let accept = text.withUTF8 { text in
            withUnsafeTemporaryAllocation(byteCount: Int(EVP_MAX_MD_SIZE), alignment: 1) { digest in
                let start = digest.baseAddress?.assumingMemoryBound(to: UInt8.self)
                var size: UInt32 = 0
                guard let sha1, EVP_Digest(text.baseAddress, text.count, start, &size, sha1, nil) == 1, size == 20
                else { return String?.none }
                return Base64.encode(UnsafeRawBufferPointer(rebasing: digest[..<20]))
            }
        }
        guard let accept else { throw .noDigest }
        return accept
    }

    // Fetched once: `EVP_sha1()` would have the provider searched at each handshake, which takes longer than the digest.
    // OpenSSL never changes what it points to, and it lives as long as the process: any thread may use it.
    private nonisolated(unsafe) static let sha1 = EVP_MD_fetch(nil, "SHA1", nil)

    private static let unvarying: StaticString =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"

    private static func isKey(_ key: String) -> Bool {
        var key = key
        return key.withUTF8 { Base64.isSixteenBytes(UnsafeRawBufferPointer($0)) }
    }
}
