/// The limits of a request. Every limit is inclusive: exactly this much passes. One more is refused as soon as it is
/// known, before memory is used for it.
package struct HTTPLimits: Sendable, Hashable {
    /// Bytes of the head, from the method to the empty line's end; at most 65,535. Beyond: `431`.
    /// The trailer section of a chunked body, and the chunk extensions of one body together, have the same limit.
    package var headBytes: Int { didSet { headBytes = Self.bounded(headBytes, 64...65_535) } }
    /// Bytes of the request target. Beyond: `414`.
    package let targetBytes: Int
    /// Header fields of a head, and of a trailer section. Beyond: `431`.
    package let fields: Int
    /// Bytes of a body without the chunks' framing. Beyond: `413`.
    package var bodyBytes: Int { didSet { bodyBytes = max(bodyBytes, 0) } }
    /// Bytes of a chunk's first line (size and extensions, without CRLF). Beyond: `400`.
    package let chunkLineBytes: Int

    /// Values out of range become the nearest valid value.
    package init(
        headBytes: Int = 16 * 1024, targetBytes: Int = 8 * 1024, fields: Int = 100, bodyBytes: Int = 64 * 1024,
        chunkLineBytes: Int = 256
    ) {
        self.headBytes = Self.bounded(headBytes, 64...65_535)
        self.targetBytes = Self.bounded(targetBytes, 1...65_535)
        self.fields = max(fields, 1)
        self.bodyBytes = max(bodyBytes, 0)
        self.chunkLineBytes = max(chunkLineBytes, 1)
    }

    private static func bounded(_ value: Int, _ range: ClosedRange<Int>) -> Int {
        min(max(value, range.lowerBound), range.upperBound)
    }

    /// The longest request line within the limits: method, target, version, two spaces, CRLF.
    var requestLineBytes: Int { HTTPMethod.longest + targetBytes + 12 }
}
