/// An event of the parser.
package enum HTTPResponseEvent {
    case head(HTTPResponseHead)
    /// A part of the body, which is never empty. It is a slice of the input and valid until the next call.
    case body(UnsafeRawBufferPointer)
    /// The response is complete. After an upgrade, the rest of the input belongs to the new protocol.
    case end
}

/// Parses one response, whose bytes may be split anywhere (RFC 9112). This is enough for a client that closes the
/// connection after the response.
///
/// ```
///     head [→ head, after an interim response] → length, chunked or until the connection's end → ended
/// ```
///
/// Call `next` until it returns `nil`: then the input is used up. Interim responses are skipped (RFC 9110 §15.2),
/// except `101`, which ends the response. Bodies are never gathered here. Don't use the parser after an error.
package struct HTTPResponseParser {
    private enum Phase {
        case head([UInt8])
        case length(Int)
        case chunked(HTTPChunkedBody)
        case untilEnd(bytes: Int)
        case end
        case ended
    }

    /// The maximum number of interim responses. Each is small, but a server could send them without end.
    static let maxInterimHeads = 16

    private let limits: HTTPLimits
    private var phase = Phase.head([])
    private var interimHeads = 0

    package init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
    }

    /// Returns the next event in `input`, and removes the parsed bytes from the front of `input`. Returns `nil` if the
    /// input is used up.
    package mutating func next(
        _ input: inout UnsafeRawBufferPointer
    ) throws(HTTPResponseError) -> HTTPResponseEvent? {
        switch phase {
        case .head(var bytes):
            while try readHead(&bytes, &input) {
                if let head = try finishHead(bytes) { return .head(head) }
                bytes = []
            }
            phase = .head(bytes)
            return nil
        case .length(let remaining):
            guard !input.isEmpty else { return nil }
            let body = input.take(min(remaining, input.count))
            phase = body.count < remaining ? .length(remaining - body.count) : .end
            return .body(body)
        case .chunked(var chunked):
            switch try Self.parsing({ () throws(HTTPParseError) in try chunked.next(&input, limits: limits) }) {
            case .needsMore:
                phase = .chunked(chunked)
                return nil
            case .data(let data):
                phase = .chunked(chunked)
                return .body(data)
            case .end:
                phase = .ended
                return .end
            }
        case .untilEnd(let bytes):
            guard !input.isEmpty else { return nil }
            guard input.count <= limits.bodyBytes - bytes else { throw .malformed(.bodyTooLarge) }
            phase = .untilEnd(bytes: bytes + input.count)
            return .body(input.take(input.count))
        case .end:
            phase = .ended
            return .end
        case .ended:
            return nil
        }
    }

    /// Handles the end of the connection, after all input was parsed.
    ///
    /// - Throws: ``HTTPResponseError/cutShort`` if the response isn't complete.
    package mutating func inputEnded() throws(HTTPResponseError) {
        switch phase {
        case .untilEnd, .end, .ended: phase = .ended
        case .head, .length, .chunked: throw .cutShort
        }
    }

    /// Takes the bytes of the head, including its empty line. Returns `false` if the head isn't complete.
    private func readHead(
        _ bytes: inout [UInt8], _ input: inout UnsafeRawBufferPointer
    ) throws(HTTPResponseError) -> Bool {
        while !input.isEmpty {
            let line = input.firstOffset(of: ASCII.lineFeed, in: 0..<input.count)
            let part = input.take(line.map { $0 + 1 } ?? input.count)
            guard part.count <= limits.headBytes - bytes.count else { throw .malformed(.headTooLarge) }
            bytes.append(contentsOf: part)
            guard line != nil else { return false }
            guard bytes.count > 1, bytes[bytes.count - 2] == ASCII.carriageReturn else {
                throw .malformed(.bareLineFeed)
            }
            if bytes.count == 2 { throw .badStatusLine }
            if bytes.count > 3, bytes[bytes.count - 3] == ASCII.lineFeed { return true }
        }
        return false
    }

    /// - Returns: The head, or `nil` for an interim response, after which another response follows.
    private mutating func finishHead(_ bytes: [UInt8]) throws(HTTPResponseError) -> HTTPResponseHead? {
        let limits = limits
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(HTTPResponseError) in try Self.head(bytes, limits: limits) }
        }
        let (head, framing) = try result.get()
        if head.status.code < 200, head.status != .switchingProtocols {
            guard interimHeads < Self.maxInterimHeads else { throw .tooManyInterimHeads }
            interimHeads += 1
            return nil
        }
        phase = try body(of: head, framing)
        return head
    }

    /// Returns how the body is framed (RFC 9112 §6.3).
    private func body(of head: HTTPResponseHead, _ framing: HTTPFraming?) throws(HTTPResponseError) -> Phase {
        if [101, 204, 304].contains(head.status.code) { return .end }
        guard let framing else { return .untilEnd(bytes: 0) }
        switch try Self.parsing({ () throws(HTTPParseError) in try framing.body(version: .http11, limits: limits) }) {
        case .none: return .end
        case .length(let length): return .length(length)
        case .chunked: return .chunked(HTTPChunkedBody())
        }
    }

    /// Parses `HTTP/1.x SP status [SP reason]` and the fields. The fields that determine the body's framing are
    /// returned separately.
    private static func head(
        _ bytes: UnsafeRawBufferPointer, limits: HTTPLimits
    ) throws(HTTPResponseError) -> (HTTPResponseHead, HTTPFraming?) {
        var fields: [HTTPField] = []
        var framing: HTTPFraming?
        var status: HTTPStatus?
        var start = 0
        while let end = bytes.firstOffset(of: ASCII.lineFeed, in: start..<bytes.count), end > start + 1 {
            let line = start..<end - 1
            start = end + 1
            guard status != nil else {
                status = try Self.status(bytes.part(line))
                continue
            }
            guard fields.count < limits.fields else { throw .malformed(.tooManyFields) }
            let field = try parsing { () throws(HTTPParseError) in try HTTPFieldLine(bytes, in: line) }
            let name = bytes.part(field.name.range)
            if name.equalsIgnoringCase("Content-Length") || name.equalsIgnoringCase("Transfer-Encoding") {
                framing = try parsing { () throws(HTTPParseError) in
                    var known = framing ?? HTTPFraming()
                    try known.take(field, of: bytes, version: .http11)
                    return known
                }
            }
            fields.append(
                HTTPField(
                    String(decoding: name, as: UTF8.self),
                    String(decoding: bytes.part(field.value.range), as: UTF8.self)))
        }
        guard let status else { throw .badStatusLine }
        return (HTTPResponseHead(status: status, fields: fields), framing)
    }

    private static func status(_ line: UnsafeRawBufferPointer) throws(HTTPResponseError) -> HTTPStatus {
        guard line.count >= 12, line[8] == ASCII.space, line.count == 12 || line[12] == ASCII.space,
            line.part(9..<12).allSatisfy(ASCII.isDigit), line[9] != UInt8(ascii: "0"),
            // A CR within a line is invalid (§2.2). Other bytes that a reason phrase must not contain are invalid too.
            line.part(12..<line.count).areFieldValueBytes,
            (try? HTTPVersion(line.part(0..<8))) != nil
        else { throw .badStatusLine }
        return HTTPStatus(code: line.part(9..<12).reduce(0) { $0 * 10 + Int($1 & 0x0F) })
    }

    private static func parsing<Value>(
        _ body: () throws(HTTPParseError) -> Value
    ) throws(HTTPResponseError) -> Value {
        do { return try body() } catch { throw .malformed(error) }
    }
}
