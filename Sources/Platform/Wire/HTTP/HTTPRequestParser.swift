/// An event of the parser.
package enum HTTPRequestEvent {
    case head(HTTPRequestHead)
    /// A part of the body, which is never empty. It is a slice of the input and valid until the next call.
    case body(UnsafeRawBufferPointer)
    /// The request is complete. The rest of the input belongs to the next request, or to the protocol after an upgrade.
    case end
}

/// Parses the requests of one connection, whose bytes may be split anywhere (RFC 9112).
///
/// ```
///     idle → [leadingCR →] [partialHead →] head → length or chunked → end → idle
/// ```
///
/// Call `next` until it returns `nil`: then the input is used up. If a head is completely in the input, it is parsed in
/// place and copied once. Otherwise it is gathered up to its limit. Bodies are never gathered here. Between requests,
/// the parser holds no memory. After an error, each call throws the same error again. Each connection has one parser,
/// which can't be copied.
package struct HTTPRequestParser: ~Copyable {
    private enum Phase {
        case idle
        /// A CR before the request line was read. An LF must follow.
        case leadingCR
        case head
        /// A body with a known length is being read. The value is the number of remaining bytes.
        case length(Int)
        case chunked
        case end
        case failed(HTTPParseError)
    }

    /// State that a connection needs only at times. It is a separate object, so that other connections don't use memory
    /// for it.
    private final class Partial {
        var bytes: [UInt8] = []
        var draft = HTTPHeadParser()
        var chunked = HTTPChunkedBody()
        /// The `Origin` of a head that was refused.
        var refusedOrigin: String?
    }

    private let limits: HTTPLimits
    private var phase = Phase.idle
    private var hasSkippedLine = false
    private var partial: Partial?

    package init(limits: HTTPLimits = HTTPLimits()) {
        self.limits = limits
    }

    /// The position in a request at which the input ended.
    package enum Position: Sendable, Hashable {
        /// The input ended between requests. The connection may be closed without harm.
        case betweenRequests
        /// The input ended within a head.
        case inHead
        /// The head is complete, and ``HTTPRequestEvent/end`` hasn't been returned yet.
        case inBody
        /// The parser has thrown an error.
        case nowhere
    }

    package var position: Position {
        switch phase {
        case .idle: .betweenRequests
        case .leadingCR, .head: .inHead
        case .length, .chunked, .end: .inBody
        case .failed: .nowhere
        }
    }

    /// The `Origin` of a head that was refused, if the field had arrived before. A browser lets a page read an answer
    /// only if the answer names the page's origin.
    package var refusedOrigin: String? { partial?.refusedOrigin }

    /// Returns the next event in `input`, and removes the parsed bytes from the front of `input`. Returns `nil` if the
    /// input is used up. Bytes after `.end` aren't removed.
    package mutating func next(_ input: inout UnsafeRawBufferPointer) throws(HTTPParseError) -> HTTPRequestEvent? {
        let whole = input
        do throws(HTTPParseError) {
            return try advance(&input)
        } catch {
            switch phase {
            case .idle, .head: rememberOrigin(of: whole)
            case .failed: break
            case .leadingCR, .length, .chunked, .end: partial = nil
            }
            phase = .failed(error)
            throw error
        }
    }

    /// Stores the origin of a refused head, and drops everything else.
    private mutating func rememberOrigin(of input: UnsafeRawBufferPointer) {
        let origin = partial?.bytes.withUnsafeBytes(HTTPHeadParser.origin) ?? HTTPHeadParser.origin(in: input)
        partial = origin.map { origin in
            let partial = Partial()
            partial.refusedOrigin = origin
            return partial
        }
    }

    private mutating func advance(_ input: inout UnsafeRawBufferPointer) throws(HTTPParseError) -> HTTPRequestEvent? {
        switch phase {
        case .failed(let error):
            throw error
        case .end:
            phase = .idle
            return .end
        case .idle, .leadingCR:
            guard try skipEmptyLine(&input), !input.isEmpty else { return nil }
            return try beginHead(&input)
        case .head:
            return input.isEmpty ? nil : try continueHead(&input)
        case .length(let remaining):
            guard !input.isEmpty else { return nil }
            let body = input.take(min(remaining, input.count))
            phase = body.count < remaining ? .length(remaining - body.count) : .end
            return .body(body)
        case .chunked:
            return try continueChunked(&input)
        }
    }

    /// Skips one empty line before a request, because old clients send one after a body (RFC 9112 §2.2). Returns
    /// whether a request line may begin.
    private mutating func skipEmptyLine(_ input: inout UnsafeRawBufferPointer) throws(HTTPParseError) -> Bool {
        while let byte = input.first {
            if case .leadingCR = phase {
                guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
                phase = .idle
                hasSkippedLine = true
            } else if byte == ASCII.carriageReturn {
                guard !hasSkippedLine else { throw .emptyLines }
                phase = .leadingCR
            } else {
                guard byte != ASCII.lineFeed else { throw .bareLineFeed }
                return true
            }
            _ = input.take(1)
        }
        return false
    }

    private mutating func beginHead(_ input: inout UnsafeRawBufferPointer) throws(HTTPParseError) -> HTTPRequestEvent? {
        hasSkippedLine = false
        var draft = HTTPHeadParser()
        if let length = try draft.advance(over: input, limits: limits) {
            return try finishHead(draft.finish([UInt8](input.take(length)), limits: limits))
        }
        let partial = Partial()
        partial.draft = draft
        partial.bytes.append(contentsOf: input.take(input.count))
        self.partial = partial
        phase = .head
        return nil
    }

    private mutating func continueHead(
        _ input: inout UnsafeRawBufferPointer
    ) throws(HTTPParseError) -> HTTPRequestEvent? {
        guard let partial else { throw .requestLineMalformed }
        let known = partial.bytes.count
        // A head that has reached its limit was already refused. At least one more byte therefore fits.
        partial.bytes.append(contentsOf: input.prefix(limits.headBytes - known))
        let limits = limits
        let result = partial.bytes.withUnsafeBytes { bytes in
            Result { () throws(HTTPParseError) in try partial.draft.advance(over: bytes, limits: limits) }
        }
        guard let length = try result.get() else {
            _ = input.take(partial.bytes.count - known)
            return nil
        }
        _ = input.take(length - known)
        partial.bytes.removeLast(partial.bytes.count - length)
        let head = try partial.draft.finish(partial.bytes, limits: limits)
        self.partial = nil
        return finishHead(head)
    }

    private mutating func finishHead(_ head: HTTPRequestHead) -> HTTPRequestEvent {
        switch head.bodyFraming {
        case .none: phase = .end
        case .length(let length): phase = .length(length)
        case .chunked:
            phase = .chunked
            partial = Partial()
        }
        return .head(head)
    }

    private mutating func continueChunked(
        _ input: inout UnsafeRawBufferPointer
    ) throws(HTTPParseError) -> HTTPRequestEvent? {
        guard let partial else { throw .badChunkSize }
        switch try partial.chunked.next(&input, limits: limits) {
        case .needsMore: return nil
        case .data(let data): return .body(data)
        case .end:
            self.partial = nil
            phase = .idle
            return .end
        }
    }
}

// `@unchecked Sendable` is safe because the parser's only reference is to an object that it made and never passes on.
// The parser can't be copied, so its owner is the object's only owner.
extension HTTPRequestParser: @unchecked Sendable {}
