/// Strict percent-encoding (RFC 3986 §2.1). Two hexadecimal digits must follow every `%`. The decoded text must be
/// UTF-8 without NUL.
package enum PercentEncoding {
    /// Returns the error in the escapes of `bytes`, or `nil` if they are valid. `bytes` must be UTF-8.
    package static func fault(in bytes: UnsafeRawBufferPointer) -> HTTPParseError? {
        guard var index = bytes.firstOffset(of: UInt8(ascii: "%")) else { return nil }
        var validator = UTF8Validator()
        while index < bytes.count {
            var byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard let decoded = escape(in: bytes, at: index) else { return .badEscape }
                guard decoded != 0 else { return .escapedNUL }
                byte = decoded
                index += 2
            }
            index += 1
            let isValid = withUnsafeBytes(of: byte) { validator.append($0) }
            guard isValid else { return .targetNotUTF8 }
        }
        return validator.isComplete ? nil : .targetNotUTF8
    }

    /// Returns the decoded text of valid `bytes`. With `plusIsSpace`, a `+` becomes a space, as in the query of a form
    /// (WHATWG URL §5.1).
    package static func decode(_ bytes: UnsafeRawBufferPointer, plusIsSpace: Bool = false) -> String {
        guard !isPlain(bytes, plusIsSpace: plusIsSpace) else { return String(decoding: bytes, as: UTF8.self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while let (byte, _) = next(in: bytes, at: &index, plusIsSpace: plusIsSpace) { decoded.append(byte) }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Whether `bytes` contain nothing that decoding would change.
    static func isPlain(_ bytes: UnsafeRawBufferPointer, plusIsSpace: Bool = false) -> Bool {
        bytes.firstOffset(of: UInt8(ascii: "%")) == nil
            && !(plusIsSpace && bytes.firstOffset(of: UInt8(ascii: "+")) != nil)
    }

    /// Whether `bytes` decode to `text`. An escaped `/` isn't equal to a `/` in `text`, because it doesn't separate
    /// segments.
    static func equals(
        _ bytes: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer, plusIsSpace: Bool = false
    ) -> Bool {
        var index = 0
        var position = 0
        while let (byte, isEscaped) = next(in: bytes, at: &index, plusIsSpace: plusIsSpace) {
            guard position < text.count, text[position] == byte else { return false }
            if isEscaped, byte == UInt8(ascii: "/"), !plusIsSpace { return false }
            position += 1
        }
        return position == text.count
    }

    private static func next(
        in bytes: UnsafeRawBufferPointer, at index: inout Int, plusIsSpace: Bool
    ) -> (byte: UInt8, isEscaped: Bool)? {
        guard index < bytes.count else { return nil }
        let byte = bytes[index]
        if byte == UInt8(ascii: "%"), let decoded = escape(in: bytes, at: index) {
            index += 3
            return (decoded, true)
        }
        index += 1
        return (plusIsSpace && byte == UInt8(ascii: "+") ? ASCII.space : byte, false)
    }

    private static func escape(in bytes: UnsafeRawBufferPointer, at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
            let low = ASCII.hexValue(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }
}
