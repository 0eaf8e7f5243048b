/// The limits of a request. All limits are inclusive: exactly this number is accepted. A request that exceeds a limit
/// is refused as soon as this is known, before memory is used for it.
package struct HTTPLimits: Sendable, Hashable {
    /// The maximum number of bytes of the head, from the method to the end of the empty line. It is at most 65,535. A
    /// longer head is refused with `431`. The trailer section of a chunked body has the same limit. All chunk
    /// extensions of one body together have it, too.
    package var headBytes: Int { didSet { headBytes = Self.bounded(headBytes, 64...65_535) } }
    /// The maximum number of bytes of the request target. A longer target is refused with `414`.
    package let targetBytes: Int
    /// The maximum number of header fields of a head, and of fields of a trailer section. More fields are refused with
    /// `431`.
    package let fields: Int
    /// The maximum number of bytes of a body, without the framing of chunks. A longer body is refused with `413`.
    package var bodyBytes: Int { didSet { bodyBytes = max(bodyBytes, 0) } }
    /// The maximum number of bytes of a chunk's first line: its size and extensions, without CRLF. A longer line is
    /// refused with `400`.
    package let chunkLineBytes: Int

    /// Creates limits. Values that are out of range become the nearest valid value.
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

    /// The length of the longest request line within the limits: method, target, version, two spaces and CRLF.
    var requestLineBytes: Int { HTTPMethod.longest + targetBytes + 12 }
}
