/// The framing of a request's body (RFC 9112 §6.3).
package enum HTTPBodyFraming: Sendable, Hashable {
    case none
    /// A body of this number of bytes, at least one.
    case length(Int)
    case chunked
}

/// The header fields that determine the framing and the connection. They are gathered while the head is parsed.
struct HTTPFraming {
    private var contentLength: Int?
    private var transferEncodingLines = 0
    private var chunkedCodings = 0
    private var unknownCodings = 0
    private var expectsContinue = false
    private(set) var host: ByteRange?
    private(set) var asksToClose = false
    private(set) var asksToKeepAlive = false

    mutating func take(
        _ line: HTTPFieldLine, of bytes: UnsafeRawBufferPointer, version: HTTPVersion
    ) throws(HTTPParseError) {
        let name = bytes.part(line.name.range)
        let value = line.value.range
        switch name.count {
        case 4 where name.equalsIgnoringCase("Host"):
            guard host == nil else { throw .hostRepeated }
            guard HTTPAuthority.isValid(bytes.part(value)) else { throw .hostInvalid }
            host = line.value
        case 6 where name.equalsIgnoringCase("Expect"):
            // An expectation of 100-continue in HTTP/1.0 is valid, but is ignored later (RFC 9110 §10.1.1).
            guard bytes.part(value).equalsIgnoringCase("100-continue") else { throw .expectationUnknown }
            expectsContinue = version == .http11
        case 10 where name.equalsIgnoringCase("Connection"):
            bytes.forEachListElement(in: value) { option in
                if option.equalsIgnoringCase("close") { asksToClose = true }
                if option.equalsIgnoringCase("keep-alive") { asksToKeepAlive = true }
            }
        case 14 where name.equalsIgnoringCase("Content-Length"):
            // A server may refuse a repeated length, even if the values are equal (RFC 9110 §8.6). A list of lengths
            // isn't a number.
            guard contentLength == nil else { throw .repeatedContentLength }
            contentLength = try Self.length(bytes.part(value))
        case 17 where name.equalsIgnoringCase("Transfer-Encoding"):
            transferEncodingLines += 1
            bytes.forEachListElement(in: value) { coding in
                if coding.equalsIgnoringCase("chunked") { chunkedCodings += 1 } else { unknownCodings += 1 }
            }
        default: break
        }
    }

    /// Returns the body's framing after all fields were parsed.
    func body(version: HTTPVersion, limits: HTTPLimits) throws(HTTPParseError) -> HTTPBodyFraming {
        if transferEncodingLines > 0 {
            guard contentLength == nil else { throw .lengthWithTransferEncoding }
            guard version == .http11 else { throw .transferEncodingInOldVersion }
            guard unknownCodings == 0 else { throw .unknownTransferEncoding }
            guard transferEncodingLines == 1, chunkedCodings == 1 else { throw .badTransferEncoding }
            return .chunked
        }
        guard let contentLength, contentLength > 0 else { return .none }
        guard contentLength <= limits.bodyBytes else { throw .bodyTooLarge }
        return .length(contentLength)
    }

    /// Whether the client waits for `100 Continue`. Without a body it doesn't wait (RFC 9110 §10.1.1).
    func expectsContinue(before body: HTTPBodyFraming) -> Bool {
        expectsContinue && body != .none
    }

    /// Whether the connection may be used again after the response (RFC 9112 §9.3).
    func isKeepAlive(version: HTTPVersion) -> Bool {
        !asksToClose && (version == .http11 || asksToKeepAlive)
    }

    /// Parses a length: `1*DIGIT` with a value that fits into `Int`.
    private static func length(_ digits: UnsafeRawBufferPointer) throws(HTTPParseError) -> Int {
        guard !digits.isEmpty else { throw .badContentLength }
        var length = 0
        for digit in digits {
            guard ASCII.isDigit(digit) else { throw .badContentLength }
            let (tens, overflows) = length.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = tens.addingReportingOverflow(Int(digit &- 0x30))
            guard !overflows, !overflowsToo else { throw .badContentLength }
            length = sum
        }
        return length
    }
}
