/// A JSON object whose members are all strings of printable ASCII without escapes. Almost every message of a room has
/// this form.
///
/// Reads the bytes in place and allocates nothing. The initialiser returns `nil` for all other messages, valid JSON or
/// not.
struct FlatJSONObject {
    private(set) var type: Slice<UnsafeRawBufferPointer>?
    private(set) var id: Slice<UnsafeRawBufferPointer>?
    private(set) var kind: Slice<UnsafeRawBufferPointer>?

    init?(_ bytes: UnsafeRawBufferPointer) {
        var scanner = Scanner(bytes: bytes)
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        repeat {
            guard let name = scanner.takeString(), scanner.take(UInt8(ascii: ":")), let value = scanner.takeString()
            else { return nil }
            if name.elementsEqual("type".utf8) {
                // A repeated member isn't accepted, because decoders differ in which of the two they use.
                guard type == nil else { return nil }
                type = value
            } else if name.elementsEqual("id".utf8) {
                guard id == nil else { return nil }
                id = value
            } else if name.elementsEqual("kind".utf8) {
                guard kind == nil else { return nil }
                kind = value
            }
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")), scanner.isAtEnd else { return nil }
    }

    private struct Scanner {
        let bytes: UnsafeRawBufferPointer
        var position = 0

        var isAtEnd: Bool {
            mutating get {
                skipWhitespace()
                return position == bytes.count
            }
        }

        /// Skips the four bytes that count as white space (RFC 8259 §2).
        private mutating func skipWhitespace() {
            while position < bytes.count {
                switch bytes[position] {
                case 0x20, 0x09, 0x0A, 0x0D: position += 1
                default: return
                }
            }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            skipWhitespace()
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }

        mutating func takeString() -> Slice<UnsafeRawBufferPointer>? {
            guard take(UInt8(ascii: "\"")) else { return nil }
            let start = position
            while position < bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "\"") {
                    position += 1
                    return bytes[start..<(position - 1)]
                }
                guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
                position += 1
            }
            return nil
        }
    }
}
