import FoundationEssentials
import Wire

extension UUID {
    /// Parses a UUID (RFC 9562 §4): 36 characters, ignoring case. `UUID(uuidString:)` also accepts signs, blanks and
    /// `0x` instead of digits.
    package init?(text: String) {
        var text = text
        guard let uuid = text.withUTF8({ UUID(ascii: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = uuid
    }

    /// Parses a UUID without making a string. Every ale names its room, so eight digits are parsed in one step.
    package init?(ascii bytes: UnsafeRawBufferPointer) {
        let dash = UInt8(ascii: "-")
        guard bytes.count == 36, bytes[8] == dash, bytes[13] == dash, bytes[18] == dash, bytes[23] == dash,
            let first = Self.digits(bytes, 0, 4), let second = Self.digits(bytes, 9, 14),
            let third = Self.digits(bytes, 19, 24), let fourth = Self.digits(bytes, 28, 32)
        else { return nil }
        // Both types consist of sixteen bytes.
        self.init(uuid: unsafeBitCast((first, second, third, fourth), to: uuid_t.self))
    }

    /// The text in uppercase, equal to `uuidString`, but made in a fraction of the time. Each response and each
    /// reminder contains UUIDs.
    package var text: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var length = 0
            withUnsafeBytes(of: uuid) { bytes in
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[length] = UInt8(ascii: "-")
                        length += 1
                    }
                    text[length] = HexText.digit(byte >> 4, ten: UInt8(ascii: "A"))
                    text[length + 1] = HexText.digit(byte & 15, ten: UInt8(ascii: "A"))
                    length += 2
                }
            }
            return length
        }
    }

    /// Parses four digits at one position and four at another, in memory order.
    private static func digits(_ bytes: UnsafeRawBufferPointer, _ first: Int, _ second: Int) -> UInt32? {
        EightBytes(
            bytes.loadUnaligned(fromByteOffset: first, as: UInt32.self),
            bytes.loadUnaligned(fromByteOffset: second, as: UInt32.self)
        ).hexadecimal?.littleEndian
    }
}
