/// A head in the making. It is read line by line, each as soon as it is whole, so that garbage is refused when it shows and
/// not at a time-out, and so that every split of the bytes gives the same answer. Each byte is looked at once for the ends of
/// lines and once for what is in them, however many calls bring it.
struct HTTPHeadDraft {
    private var requestLine: HTTPRequestLine?
    private var fields: [HTTPFieldLine] = []
    private var framing = HTTPFraming()
    /// Where the line being read begins, and up to where its end was looked for.
    private var lineStart = 0
    private var scanned = 0

    /// Reads on in `bytes`, the head's bytes so far with whatever follows them; they were there in the last call too, but for
    /// the new ones at their end. Returns the head's length once its last line is there.
    mutating func advance(
        over bytes: UnsafeRawBufferPointer, limits: HTTPLimits
    ) throws(HTTPParseError) -> Int? {
        if scanned == 0, let first = bytes.first, !ByteSet.token.contains(first) { throw .requestLineMalformed }
        while let line = try nextLine(of: bytes, limits: limits) {
            guard let version = requestLine?.version else {
                requestLine = try HTTPRequestLine(bytes, in: line, limits: limits)
                // What clients send has ten fields or so; growing step by step would allocate five times.
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

    /// The head, once `advance` has told its length; `bytes` are exactly its own.
    func finish(_ bytes: [UInt8], limits: HTTPLimits) throws(HTTPParseError) -> HTTPRequestHead {
        guard let requestLine else { throw .requestLineMalformed }
        if requestLine.version == .http11, framing.host == nil { throw .hostMissing }
        let body = try framing.body(version: requestLine.version, limits: limits)
        return HTTPRequestHead(
            bytes: bytes, requestLine: requestLine, fields: fields, framing: framing, bodyFraming: body)
    }

    /// The next line without its CRLF, when it is whole.
    private mutating func nextLine(
        of bytes: UnsafeRawBufferPointer, limits: HTTPLimits
    ) throws(HTTPParseError) -> Range<Int>? {
        let isFirst = requestLine == nil
        let limit = isFirst ? min(limits.headBytes, limits.requestLineBytes) : limits.headBytes
        // Nothing beyond the limit is looked at, so it makes no difference whether it has arrived.
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
