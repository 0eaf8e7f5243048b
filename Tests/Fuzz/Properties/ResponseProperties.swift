import Wire

/// The client's parser of responses: it reads the same for every splitting and as a simple parser, and keeps its
/// limits. All bytes after a handshake belong to the WebSocket.
enum ResponseProperties {
    private static let statusesWithoutBody: Set = [101, 204, 304]

    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let limits = input.option(0) ? HTTPLimits(headBytes: 120, fields: 4, bodyBytes: 16) : HTTPLimits()
        let readings = input.arrivals.map { ResponseReading($0, limits: limits, ends: input.option(1)) }
        let reading = readings[0]
        for other in readings.dropFirst() {
            try require(other == reading, "another split is read otherwise: \(reading) \(other)")
        }
        try require(reading.heads.count < 2, "two heads")
        try require(reading.body.count <= limits.bodyBytes, "the body is too long")
        guard let head = reading.heads.first else {
            try require(!reading.isWhole, "a response without a head")
            return
        }
        try checkHead(head, limits)
        if reading.error == nil, reading.isWhole { try checkEnd(reading, head, input.content) }
        // The server must know the key to answer, so any other answer is refused.
        let handshake = WebSocketClientHandshake(subprotocols: ["a"], nonce: (1, 2))
        if (try? handshake.accept(head)) != nil {
            try require(
                head.status == .switchingProtocols && head.value("Sec-WebSocket-Accept") == accept, "it isn't an answer"
            )
        }
    }

    /// The accept value of this nonce's key, `AQAAAAAAAAACAAAAAAAAAA==` (RFC 6455 §4.2.2).
    private static let accept = "qjJL+9fXOstHFgEeQb84OF5TYjU="

    private static func checkHead(_ head: HTTPResponseHead, _ limits: HTTPLimits) throws(BrokenProperty) {
        try require((100...999).contains(head.status.code), "the status is \(head.status.code)")
        try require(head.status.code >= 200 || head.status == .switchingProtocols, "an interim response is none")
        try require(head.fields.count <= limits.fields, "too many fields")
        for field in head.fields {
            let isName = !field.name.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
            try require(isName, "a name: \(field.name)")
            let isText = field.value.utf8.allSatisfy { ($0 >= 0x20 || $0 == 9) && $0 != 0x7F }
            try require(isText, "a value: \(field.value.debugDescription)")
        }
    }

    /// A simple parser finds the same status, fields, body and end.
    private static func checkEnd(
        _ reading: ResponseReading, _ head: HTTPResponseHead, _ bytes: [UInt8]
    ) throws(BrokenProperty) {
        var start = 0
        while true {
            let plain: PlainHTTP
            // A response whose status allows no body may lack the body that its fields announce.
            do throws(PlainHTTP.Fault) { plain = try PlainHTTP(bytes, from: start) } catch { return }
            let status = Int(plain.requestLine.split(separator: " ").dropFirst().first ?? "")
            if let status, status < 200, status != 101 {
                start = plain.headEnd
                continue
            }
            try require(status == head.status.code, "the status line is \(plain.requestLine): \(reading)")
            try require(
                plain.fields.map(\.name) == head.fields.map { $0.name.lowercased() }, "other fields: \(reading)")
            let isFramed = plain.fields.contains { ["content-length", "transfer-encoding"].contains($0.name) }
            let (body, end) =
                statusesWithoutBody.contains(head.status.code)
                ? ([], plain.headEnd)
                : isFramed ? (plain.body, plain.end) : (Array(bytes[plain.headEnd...]), bytes.count)
            try require(body == reading.body && Array(bytes[end...]) == reading.rest, "it ends at \(end): \(reading)")
            return
        }
    }
}
