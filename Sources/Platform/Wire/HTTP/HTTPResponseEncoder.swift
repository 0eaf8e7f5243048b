/// Appends responses (RFC 9112 §4, §5, §7.1) to a buffer, always as HTTP/1.1 (RFC 9110 §2.5).
///
/// Text from outside stays within its field. Control bytes in a value become spaces (RFC 9110 §5.5). White space at the
/// beginning and end is removed. A field with an invalid name is left out.
package enum HTTPResponseEncoder {
    /// Appends the status line, such as `HTTP/1.1 200 OK`.
    package static func statusLine(_ status: HTTPStatus, into buffer: inout [UInt8]) {
        append("HTTP/1.1 ", to: &buffer)
        append(decimal: status.code, to: &buffer)
        buffer.append(ASCII.space)
        append(status.reasonPhrase, to: &buffer)
        endOfLine(into: &buffer)
    }

    /// Appends the field `name: value`. The name is checked.
    package static func field(named name: String, _ value: String, into buffer: inout [UInt8]) {
        var name = name
        let isToken = name.withUTF8 { name in
            guard !name.isEmpty, UnsafeRawBufferPointer(name).areTokenBytes else { return false }
            buffer.append(contentsOf: name)
            return true
        }
        guard isToken else { return }
        endOfName(into: &buffer)
        append(value: value, to: &buffer)
        endOfLine(into: &buffer)
    }

    /// Appends the field `name: value`, with a fixed name.
    package static func field(_ name: StaticString, _ value: String, into buffer: inout [UInt8]) {
        append(name, to: &buffer)
        endOfName(into: &buffer)
        append(value: value, to: &buffer)
        endOfLine(into: &buffer)
    }

    /// Appends a field with a number, such as `name: 42`.
    package static func field(_ name: StaticString, _ value: Int, into buffer: inout [UInt8]) {
        append(name, to: &buffer)
        endOfName(into: &buffer)
        append(decimal: value, to: &buffer)
        endOfLine(into: &buffer)
    }

    /// Appends fixed fields, each with its line end.
    package static func fields(_ lines: StaticString, into buffer: inout [UInt8]) {
        append(lines, to: &buffer)
    }

    /// Appends the empty line at the end of the head.
    package static func endOfHead(into buffer: inout [UInt8]) {
        endOfLine(into: &buffer)
    }

    // Appending two single bytes takes a quarter of the time of appending a sequence of two bytes.

    private static func endOfName(into buffer: inout [UInt8]) {
        buffer.append(UInt8(ascii: ":"))
        buffer.append(ASCII.space)
    }

    private static func endOfLine(into buffer: inout [UInt8]) {
        buffer.append(ASCII.carriageReturn)
        buffer.append(ASCII.lineFeed)
    }

    /// Appends a chunk with `bytes`. Appends nothing if `bytes` is empty, because an empty chunk would end the body.
    package static func chunk(_ bytes: UnsafeRawBufferPointer, into buffer: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        buffer.append(contentsOf: String(bytes.count, radix: 16).utf8)
        append("\r\n", to: &buffer)
        buffer.append(contentsOf: bytes)
        append("\r\n", to: &buffer)
    }

    /// Appends a chunk with `bytes`. Appends nothing if `bytes` is empty.
    package static func chunk(_ bytes: [UInt8], into buffer: inout [UInt8]) {
        bytes.withUnsafeBytes { chunk($0, into: &buffer) }
    }

    /// Appends the last chunk, without trailer fields.
    package static func lastChunk(into buffer: inout [UInt8]) {
        append("0\r\n\r\n", to: &buffer)
    }

    static func append(_ text: StaticString, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: UnsafeRawBufferPointer(text))
    }

    /// Appends digits without making a `String`.
    private static func append(decimal value: Int, to buffer: inout [UInt8]) {
        if value < 0 { buffer.append(UInt8(ascii: "-")) }
        append(digitsOf: value.magnitude, to: &buffer)
    }

    private static func append(digitsOf number: UInt, to buffer: inout [UInt8]) {
        if number >= 10 { append(digitsOf: number / 10, to: &buffer) }
        buffer.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    private static func append(value: String, to buffer: inout [UInt8]) {
        var value = value
        let isPlain = value.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last else { return true }
            guard first > ASCII.space, last > ASCII.space, UnsafeRawBufferPointer(bytes).areFieldValueBytes else {
                return false
            }
            buffer.append(contentsOf: bytes)
            return true
        }
        if !isPlain { append(cleaned: value, to: &buffer) }
    }

    private static func append(cleaned value: String, to buffer: inout [UInt8]) {
        let start = buffer.count
        for byte in value.utf8 {
            let shown = ByteSet.isFieldValue(byte) ? byte : ASCII.space
            if buffer.count == start, shown == ASCII.space || shown == ASCII.tab { continue }
            buffer.append(shown)
        }
        while buffer.count > start, let last = buffer.last, last == ASCII.space || last == ASCII.tab {
            buffer.removeLast()
        }
    }
}
