/// The form of a request target (RFC 9112 §3.2).
package enum HTTPTargetForm: Sendable, Hashable {
    /// `/path?query`
    case origin
    /// `http://host/path?query`. The host in it replaces the one in `Host` (§3.2.2).
    case absolute
    /// `host:port`, only for CONNECT.
    case authority
    /// `*`, only for OPTIONS.
    case asterisk
}

/// A parsed request target: the positions of its parts in the head. The bytes of `path` and `query` are validated.
struct HTTPTarget {
    let form: HTTPTargetForm
    let whole: ByteRange
    /// The path with its leading slash. It is empty for `*`, for CONNECT, and for an absolute target that ends with the
    /// host.
    private(set) var path = ByteRange.none
    /// The query without the question mark, or `nil` if there is no question mark.
    private(set) var query: ByteRange?
    private(set) var authority: ByteRange?

    init(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>, method: HTTPMethod) throws(HTTPParseError) {
        whole = ByteRange(range)
        let target = bytes.part(range)
        guard let first = target.first else { throw .requestLineMalformed }
        guard target.areTargetBytes else { throw .targetMalformed }
        if method == .connect {
            guard HTTPAuthority.isValid(target, needsPort: true) else { throw .targetFormWrong }
            form = .authority
            authority = whole
        } else if first == UInt8(ascii: "/") {
            form = .origin
            try readPathAndQuery(bytes, in: range)
        } else if first == UInt8(ascii: "*"), target.count == 1 {
            guard method == .options else { throw .targetFormWrong }
            form = .asterisk
        } else {
            form = .absolute
            try readURI(bytes, in: range)
        }
    }

    private mutating func readURI(_ bytes: UnsafeRawBufferPointer, in range: Range<Int>) throws(HTTPParseError) {
        let text = bytes.part(range)
        guard let colon = text.firstOffset(of: UInt8(ascii: ":")) else { throw .targetFormWrong }
        let scheme = text.part(0..<colon)
        guard scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https"), text.count >= colon + 3,
            text.part(colon..<colon + 3).equals(UnsafeRawBufferPointer("://"))
        else { throw .targetFormWrong }
        let start = range.lowerBound + colon + 3
        let end = (start..<range.upperBound).first { bytes[$0] == UInt8(ascii: "/") || bytes[$0] == UInt8(ascii: "?") }
        let authorityRange = start..<(end ?? range.upperBound)
        guard HTTPAuthority.isValid(bytes.part(authorityRange)) else { throw .hostInvalid }
        authority = ByteRange(authorityRange)
        try readPathAndQuery(bytes, in: authorityRange.upperBound..<range.upperBound)
    }

    private mutating func readPathAndQuery(
        _ bytes: UnsafeRawBufferPointer, in range: Range<Int>
    ) throws(HTTPParseError) {
        let mark = bytes.firstOffset(of: UInt8(ascii: "?"), in: range)
        let pathRange = range.lowerBound..<(mark ?? range.upperBound)
        if let fault = PercentEncoding.fault(in: bytes.part(pathRange)) { throw fault }
        path = ByteRange(pathRange)
        guard let mark else { return }
        let queryRange = mark + 1..<range.upperBound
        if let fault = PercentEncoding.fault(in: bytes.part(queryRange)) { throw fault }
        query = ByteRange(queryRange)
    }
}
