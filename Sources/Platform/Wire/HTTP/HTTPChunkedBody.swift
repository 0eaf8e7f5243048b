/// Parses a chunked body (RFC 9112 §7.1). The parser has no buffer: data is returned in place, and only the state is
/// kept.
///
/// ```
///     5;name=value CR LF      sizeLine → sizeEnd
///     h e l l o CR LF         data → dataCR → dataLF
///     0 CR LF                 a size of zero: the trailer section follows
///     Name: value CR LF       trailerStart → trailerName → trailerValue → trailerEnd; checked and dropped
///     CR LF                   lastLF
/// ```
struct HTTPChunkedBody {
    enum Step {
        case needsMore
        case data(UnsafeRawBufferPointer)
        case end
    }

    private enum State {
        case sizeLine, sizeEnd, data, dataCR, dataLF
        case trailerStart, trailerName, trailerValue, trailerEnd, lastLF
    }

    private var state = State.sizeLine
    /// The number of bytes of the current line until now, without its CRLF.
    private var lineBytes = 0
    private var digits = 0
    private var isInExtension = false
    private var extensionBytes = 0
    /// The size of the current chunk while the size is being read. Afterwards, the number of remaining bytes of the
    /// chunk.
    private var remaining = 0
    private var bodyBytes = 0
    private var trailerBytes = 0
    private var trailerFields = 0

    mutating func next(
        _ input: inout UnsafeRawBufferPointer, limits: HTTPLimits
    ) throws(HTTPParseError) -> Step {
        while let byte = input.first {
            if state == .data {
                let data = input.take(min(remaining, input.count))
                remaining -= data.count
                if remaining == 0 { state = .dataCR }
                return .data(data)
            }
            _ = input.take(1)
            switch state {
            case .sizeLine: try takeSize(byte, limits: limits)
            case .sizeEnd: try takeSizeEnd(byte, limits: limits)
            case .dataCR: try expect(ASCII.carriageReturn, byte, then: .dataLF)
            case .dataLF: try expect(ASCII.lineFeed, byte, then: .sizeLine)
            case .lastLF:
                guard trailerBytes < limits.headBytes else { throw .headTooLarge }
                guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
                return .end
            case .data, .trailerStart, .trailerName, .trailerValue, .trailerEnd:
                try takeTrailer(byte, limits: limits)
            }
        }
        return .needsMore
    }

    private mutating func expect(_ wanted: UInt8, _ byte: UInt8, then next: State) throws(HTTPParseError) {
        guard byte == wanted else { throw .badChunkEnd }
        state = next
    }

    private mutating func takeSize(_ byte: UInt8, limits: HTTPLimits) throws(HTTPParseError) {
        if byte == ASCII.carriageReturn {
            guard digits > 0 else { throw .badChunkSize }
            state = .sizeEnd
            return
        }
        lineBytes += 1
        guard lineBytes <= limits.chunkLineBytes else { throw .chunkLineTooLong }
        if isInExtension {
            guard byte != ASCII.lineFeed else { throw .bareLineFeed }
            guard ByteSet.isFieldValue(byte) else { throw .badChunkExtension }
            extensionBytes += 1
            guard extensionBytes <= limits.headBytes else { throw .chunkExtensionsTooLarge }
        } else if let value = ASCII.hexValue(byte) {
            guard remaining < 1 << 58 else { throw .chunkSizeOverflow }
            remaining = remaining << 4 | Int(value)
            digits += 1
        } else if byte == UInt8(ascii: ";"), digits > 0 {
            isInExtension = true
        } else {
            throw byte == ASCII.lineFeed ? .bareLineFeed : .badChunkSize
        }
    }

    private mutating func takeSizeEnd(_ byte: UInt8, limits: HTTPLimits) throws(HTTPParseError) {
        guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
        guard remaining <= limits.bodyBytes - bodyBytes else { throw .bodyTooLarge }
        bodyBytes += remaining
        state = remaining == 0 ? .trailerStart : .data
        lineBytes = 0
        digits = 0
        isInExtension = false
    }

    /// Checks a byte of the trailer section. Trailer fields must be valid (RFC 9112 §7.1.2). The server drops all of
    /// them, as §7.1.2 permits, including those that would change the framing (RFC 9110 §6.5.1).
    private mutating func takeTrailer(_ byte: UInt8, limits: HTTPLimits) throws(HTTPParseError) {
        trailerBytes += 1
        guard trailerBytes <= limits.headBytes else { throw .headTooLarge }
        switch state {
        case .trailerStart where byte == ASCII.carriageReturn:
            state = .lastLF
        case .trailerStart:
            guard byte != ASCII.space, byte != ASCII.tab else { throw .foldedLine }
            guard ByteSet.token.contains(byte) else { throw byte == ASCII.lineFeed ? .bareLineFeed : .badFieldName }
            trailerFields += 1
            guard trailerFields <= limits.fields else { throw .tooManyFields }
            state = .trailerName
        case .trailerName where byte == UInt8(ascii: ":"):
            state = .trailerValue
        case .trailerName:
            guard byte != ASCII.space, byte != ASCII.tab else { throw .spaceBeforeColon }
            guard ByteSet.token.contains(byte) else { throw byte == ASCII.lineFeed ? .bareLineFeed : .badFieldName }
        case .trailerValue where byte == ASCII.carriageReturn:
            state = .trailerEnd
        case .trailerValue:
            guard ByteSet.isFieldValue(byte) else { throw byte == ASCII.lineFeed ? .bareLineFeed : .badFieldValue }
        default:
            guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
            state = .trailerStart
        }
    }
}
