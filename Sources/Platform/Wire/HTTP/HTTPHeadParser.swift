/// The head of a request that hasn't arrived completely. Each line is parsed as soon as it is complete. Invalid bytes
/// are therefore refused at once instead of after a timeout. The result doesn't depend on where the bytes are split.
/// Each byte is scanned only twice, once for line ends and once for its content.
struct HTTPHeadParser {
    private var requestLine: HTTPRequestLine?
    private var fields: [HTTPFieldLine] = []
    private var framing = HTTPFraming()
    /// The beginning of the current line, and the position up to which the line's end was searched.
    private var lineStart = 0
    private var scanned = 0

    /// Continues with `bytes`: all bytes of the head until now, and possibly more. The argument must begin with the
    /// bytes of the last call. Returns the length of the head after its last line was parsed.
    mutating func advance(
        over bytes: UnsafeRawBufferPointer, limits: HTTPLimits
    ) throws(HTTPParseError) -> Int? {
        if scanned == 0, let first = bytes.first, !ByteSet.token.contains(first) { throw .requestLineMalformed }
        while let line = try nextLine(of: bytes, limits: limits) {
            guard let version = requestLine?.version else {
                requestLine = try HTTPRequestLine(bytes, in: line, limits: limits)
                // Clients send about ten fields. Without this reservation, the growing array would allocate five times.
                fields.reserveCapacity(min(limits.fields, 16))
                continue
            }
            if line.isEmpty { return lineStart }
            guard fields.count < limits.fields else { throw .tooManyFields }
            let field = try HTTPFieldLine(bytes, in: line)
            try framing.take(field, of: bytes, version: version)
            fields.append(field)
        }
        return nil
    }

    /// Returns the head, after `advance` has returned its length. `bytes` must be exactly the head.
    func finish(_ bytes: [UInt8], limits: HTTPLimits) throws(HTTPParseError) -> HTTPRequestHead {
        guard let requestLine else { throw .requestLineMalformed }
        if requestLine.version == .http11, framing.host == nil { throw .hostMissing }
        let body = try framing.body(version: requestLine.version, limits: limits)
        return HTTPRequestHead(
            bytes: bytes, requestLine: requestLine, fields: fields, framing: framing, bodyFraming: body)
    }

    /// Returns the value of the first line that begins with `Origin:`. The head may be malformed or incomplete.
    static func origin(in bytes: UnsafeRawBufferPointer) -> String? {
        let name = Array("origin:".utf8)
        for line in bytes.split(separator: ASCII.lineFeed).dropFirst() where line.count > name.count {
            guard zip(line, name).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 }), line.last == ASCII.carriageReturn else {
                continue
            }
            let value = line.dropFirst(name.count).dropLast()
            return String(decoding: value.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        }
        return nil
    }

    /// Returns the next line without its CRLF, if it is complete.
    private mutating func nextLine(
        of bytes: UnsafeRawBufferPointer, limits: HTTPLimits
    ) throws(HTTPParseError) -> Range<Int>? {
        let isFirst = requestLine == nil
        let limit = isFirst ? min(limits.headBytes, limits.requestLineBytes) : limits.headBytes
        // Bytes beyond the limit are ignored. Otherwise the result would depend on whether they have already arrived.
        let end = min(bytes.count, limit)
        let carriageReturn = bytes.firstOffset(of: ASCII.carriageReturn, in: scanned..<end)
        if bytes.firstOffset(of: ASCII.lineFeed, in: scanned..<(carriageReturn ?? end)) != nil { throw .bareLineFeed }
        if let carriageReturn, carriageReturn + 1 < end {
            guard bytes[carriageReturn + 1] == ASCII.lineFeed else { throw .bareCarriageReturn }
            let line = lineStart..<carriageReturn
            lineStart = carriageReturn + 2
            scanned = lineStart
            return line
        }
        scanned = carriageReturn ?? end
        if end == limit { throw isFirst && limit < limits.headBytes ? .targetTooLong : .headTooLarge }
        return nil
    }
}

/// The request line: `method SP request-target SP HTTP-version` (RFC 9112 §3), with single spaces only.
struct HTTPRequestLine {
    let method: HTTPMethod
    let version: HTTPVersion
    let target: HTTPTarget

    init(
        _ bytes: UnsafeRawBufferPointer, in line: Range<Int>, limits: HTTPLimits
    ) throws(HTTPParseError) {
        guard let methodEnd = bytes.firstOffset(of: ASCII.space, in: line), methodEnd > line.lowerBound,
            bytes.part(line.lowerBound..<methodEnd).areTokenBytes,
            let targetEnd = bytes.firstOffset(of: ASCII.space, in: methodEnd + 1..<line.upperBound)
        else { throw .requestLineMalformed }
        guard methodEnd - line.lowerBound <= HTTPMethod.longest else { throw .methodTooLong }
        method = HTTPMethod(token: bytes.part(line.lowerBound..<methodEnd))
        version = try HTTPVersion(bytes.part(targetEnd + 1..<line.upperBound))
        guard targetEnd - methodEnd - 1 <= limits.targetBytes else { throw .targetTooLong }
        target = try HTTPTarget(bytes, in: methodEnd + 1..<targetEnd, method: method)
    }
}

/// The positions of a header line's name and value in the head.
struct HTTPFieldLine: Sendable, Equatable {
    let name: ByteRange
    let value: ByteRange

    /// Parses `field-name ":" OWS field-value OWS` (RFC 9112 §5). Folded lines and white space before the colon are
    /// refused.
    init(_ bytes: UnsafeRawBufferPointer, in line: Range<Int>) throws(HTTPParseError) {
        guard let first = line.first.map({ bytes[$0] }) else { throw .badFieldName }
        guard first != ASCII.space, first != ASCII.tab else { throw .foldedLine }
        guard let colon = bytes.firstOffset(of: UInt8(ascii: ":"), in: line), colon > line.lowerBound else {
            throw .badFieldName
        }
        guard bytes[colon - 1] != ASCII.space, bytes[colon - 1] != ASCII.tab else { throw .spaceBeforeColon }
        guard bytes.part(line.lowerBound..<colon).areTokenBytes else { throw .badFieldName }
        let valueRange = bytes.trimmed(colon + 1..<line.upperBound)
        guard bytes.part(valueRange).areFieldValueBytes else { throw .badFieldValue }
        name = ByteRange(line.lowerBound..<colon)
        value = ByteRange(valueRange)
    }
}

/// The version of a message. A version 1.x above 1.1 counts as 1.1 (RFC 9110 §2.5).
package enum HTTPVersion: Sendable, Hashable {
    case http10, http11

    /// Parses `HTTP/1.x` (RFC 9112 §2.3). Case matters.
    init(_ bytes: UnsafeRawBufferPointer) throws(HTTPParseError) {
        guard bytes.count == 8, bytes.part(0..<5).equals(UnsafeRawBufferPointer("HTTP/")),
            ASCII.isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."), ASCII.isDigit(bytes[7])
        else { throw .requestLineMalformed }
        guard bytes[5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        self = bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
    }
}
