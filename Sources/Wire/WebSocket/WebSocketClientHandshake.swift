/// The client's side of the opening handshake (RFC 6455 §4.1): the request, and whether the answer fits it.
package struct WebSocketClientHandshake: Sendable {
    /// Bytes that the answer's head may have.
    package static var maxAnswerBytes: Int { 16 * 1024 }

    /// The value of `Sec-WebSocket-Key`.
    package let key: String

    /// - Parameter random: 16 random bytes, fresh for each connection. Others would be refused by the server.
    package init(random: [UInt8]) {
        key = Base64.encode(random)
    }

    /// The bytes of the request. `target` is the path with the query, `host` what goes into `Host`. What a target can't hold
    /// is percent-encoded.
    package func request(host: String, target: String, fields: [HTTPField] = []) -> [UInt8] {
        var bytes = Array("GET ".utf8)
        PercentEncoding.append(target: target, to: &bytes)
        bytes.append(contentsOf: " HTTP/1.1\r\n".utf8)
        HTTPResponseEncoder.field("Host", host, into: &bytes)
        HTTPResponseEncoder.field("Upgrade", "websocket", into: &bytes)
        HTTPResponseEncoder.field("Connection", "Upgrade", into: &bytes)
        HTTPResponseEncoder.field("Sec-WebSocket-Key", key, into: &bytes)
        HTTPResponseEncoder.field("Sec-WebSocket-Version", "13", into: &bytes)
        for field in fields { HTTPResponseEncoder.field(named: field.name, field.value, into: &bytes) }
        HTTPResponseEncoder.endOfHead(into: &bytes)
        return bytes
    }

    /// How many bytes at the front of `bytes`, all that came so far, are the answer's head; `nil` when it isn't whole.
    /// Throws when the answer isn't the acceptance of this handshake. What follows the head are frames.
    package func check(_ bytes: UnsafeRawBufferPointer) throws(WebSocketHandshakeError) -> Int? {
        var lines: [Range<Int>] = []
        var start = 0
        while let end = bytes.firstOffset(of: ASCII.lineFeed, in: start..<bytes.count) {
            guard end > start, bytes[end - 1] == ASCII.carriageReturn else { throw .answerMalformed }
            guard end < Self.maxAnswerBytes else { throw .answerTooLarge }
            if end - 1 == start {
                try check(lines, of: bytes)
                return end + 1
            }
            lines.append(start..<end - 1)
            start = end + 1
        }
        guard bytes.count < Self.maxAnswerBytes else { throw .answerTooLarge }
        return nil
    }

    private func check(_ lines: [Range<Int>], of bytes: UnsafeRawBufferPointer) throws(WebSocketHandshakeError) {
        guard let statusLine = lines.first.map({ bytes.part($0) }), statusLine.count >= 12,
            statusLine.part(0..<9).equals(UnsafeRawBufferPointer("HTTP/1.1 ")),
            let status = Int(String(decoding: statusLine[9..<12], as: UTF8.self))
        else { throw .answerMalformed }
        guard status == 101 else { throw .notSwitched(status) }
        var upgrades = false
        var connects = false
        var accepts: [UnsafeRawBufferPointer] = []
        for range in lines.dropFirst() {
            guard let line = try? HTTPFieldLine(bytes, in: range) else { throw .answerMalformed }
            let name = bytes.part(line.name.range)
            if name.equalsIgnoringCase("Upgrade") {
                upgrades = bytes.part(line.value.range).equalsIgnoringCase("websocket")
            } else if name.equalsIgnoringCase("Connection") {
                bytes.forEachListElement(in: line.value.range) {
                    connects = connects || $0.equalsIgnoringCase("upgrade")
                }
            } else if name.equalsIgnoringCase("Sec-WebSocket-Accept") {
                accepts.append(bytes.part(line.value.range))
            } else if name.equalsIgnoringCase("Sec-WebSocket-Extensions")
                || name.equalsIgnoringCase("Sec-WebSocket-Protocol")
            {
                throw .notAskedFor
            }
        }
        guard upgrades, connects else { throw .answerWithoutUpgrade }
        let expected = Array(try WebSocketHandshake.acceptValue(forKey: key).utf8)
        guard accepts.count == 1, accepts.allSatisfy({ $0.elementsEqual(expected) }) else { throw .wrongAccept }
    }
}
