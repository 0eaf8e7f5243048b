import COpenSSL

/// The server's side of the opening handshake (RFC 6455 §4.2).
package enum WebSocketHandshake {
    /// Whether the request asks for a WebSocket: `Upgrade` contains `websocket`. The handshake may still be invalid.
    package static func isAsked(by head: HTTPRequestHead) -> Bool {
        head.headers.contains("Upgrade", token: "websocket")
    }

    /// The result of a handshake.
    package struct Acceptance {
        /// The head of the response: `101` with all fields of §4.2.2.
        package let response: [UInt8]
        /// The negotiated compression, or `nil` if messages aren't compressed.
        package let compression: WebSocketDeflateParameters?
    }

    /// Accepts the WebSocket that `head` requests, if the handshake is valid. Offers of compression that aren't
    /// acceptable are no error (RFC 7692 §5). Offers that violate the grammar of §9.1 are an error, even if the server
    /// doesn't compress.
    ///
    /// - Parameters:
    ///   - subprotocol: The selected subprotocol.
    ///   - digest: The digest of this thread.
    package static func accept(
        _ head: HTTPRequestHead, _ policy: WebSocketCompression = .none, subprotocol: String? = nil,
        with digest: HandshakeDigest = HandshakeDigest()
    ) throws(WebSocketHandshakeError) -> Acceptance {
        let headers = head.headers
        guard isAsked(by: head) else { throw .noUpgrade }
        guard head.method == .get else { throw .notGet }
        guard head.version == .http11 else { throw .oldHTTP }
        guard head.bodyFraming == .none else { throw .hasBody }
        guard headers.contains("Connection", token: "upgrade") else { throw .noConnectionUpgrade }
        let isVersion = headers.withOnlyValue("Sec-WebSocket-Version") { $0.equals(UnsafeRawBufferPointer("13")) }
        guard isVersion == true else { throw .badVersion }
        var answer: [UInt8] = []
        answer.reserveCapacity(256)
        HTTPResponseEncoder.append(unvarying, to: &answer)
        let fault = headers.withOnlyValue("Sec-WebSocket-Key") { key -> WebSocketHandshakeError? in
            guard Base64.isSixteenBytes(key) else { return .badKey }
            return appendAcceptValue(forKey: key, to: &answer, with: digest) ? nil : .noDigest
        }
        guard let fault else { throw .badKey }
        if let fault { throw fault }
        HTTPResponseEncoder.append("\r\n", to: &answer)
        if let subprotocol { HTTPResponseEncoder.field("Sec-WebSocket-Protocol", subprotocol, into: &answer) }
        let compression = try compression(head, policy)
        if let compression {
            HTTPResponseEncoder.field("Sec-WebSocket-Extensions", compression.response, into: &answer)
        }
        HTTPResponseEncoder.endOfHead(into: &answer)
        return Acceptance(response: answer, compression: compression)
    }

    /// Returns the answer to the offers of compression in `head`.
    static func compression(
        _ head: HTTPRequestHead, _ policy: WebSocketCompression
    ) throws(WebSocketHandshakeError) -> WebSocketDeflateParameters? {
        var negotiation = WebSocketDeflateNegotiation(policy)
        var isMalformed = false
        var left = maxExtensionElements
        head.headers.forEachValue("Sec-WebSocket-Extensions") { field in
            var scanner = WebSocketExtensionScanner(field)
            while left > 0, let element = scanner.next() {
                negotiation.take(element)
                left -= 1
            }
            isMalformed = scanner.isMalformed
            guard left > 0, !isMalformed else { return false }
            negotiation.endOffer()
            return true
        }
        guard !isMalformed else { throw .badExtensions }
        return negotiation.answer
    }

    /// The maximum number of extensions and parameters that are read. A head has space for thousands, but no client
    /// needs more than this.
    private static let maxExtensionElements = 64

    /// Appends the base64 of the SHA-1 of the key and the UUID that the protocol defines (§4.2.2). SHA-1 isn't used for
    /// protection here. The digest only shows that the server implements the protocol. Returns `false` if the system
    /// forbids SHA-1.
    static func appendAcceptValue(
        forKey key: UnsafeRawBufferPointer, to answer: inout [UInt8], with digest: HandshakeDigest
    ) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 60 + HandshakeDigest.length, alignment: 1) { memory in
            let (text, sum) = (memory[..<60], UnsafeMutableRawBufferPointer(rebasing: memory[60...]))
            text[..<24].copyBytes(from: key)
            text[24...].copyBytes(from: UnsafeRawBufferPointer("258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
            guard digest.write(UnsafeRawBufferPointer(rebasing: text), to: sum) else { return false }
            Base64.append(UnsafeRawBufferPointer(sum), to: &answer)
            return true
        }
    }

    private static let unvarying: StaticString =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
}

/// OpenSSL's SHA-1 (FIPS 180-4 §6.1). A thread allocates its memory once for all handshakes.
package final class HandshakeDigest {
    /// The length of a digest in bytes.
    static let length = 20

    // The algorithm is fetched only once. `EVP_sha1()` would search the provider at each handshake, which takes longer
    // than the digest. `nonisolated(unsafe)` is safe because OpenSSL never changes the object, and it exists until the
    // process ends.
    private nonisolated(unsafe) static let sha1 = EVP_MD_fetch(nil, "SHA1", nil)

    private let context = EVP_MD_CTX_new()

    package init() {}

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// - Parameter sum: Memory for ``length`` bytes.
    /// - Returns: `false` if SHA-1 isn't available or memory is exhausted.
    func write(_ message: UnsafeRawBufferPointer, to sum: UnsafeMutableRawBufferPointer) -> Bool {
        guard let context, let sha1 = Self.sha1, sum.count == Self.length else { return false }
        return EVP_DigestInit_ex(context, sha1, nil) == 1
            && EVP_DigestUpdate(context, message.baseAddress, message.count) == 1
            && EVP_DigestFinal_ex(context, sum.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
    }
}
