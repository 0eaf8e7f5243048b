import FoundationEssentials

extension UUID {
    /// Parses a UUID as it is written (RFC 9562 §4): 36 characters, letters in either case. `UUID(uuidString:)` would also take
    /// signs, blanks and `0x` in the place of digits.
    init?(text: String) {
        var text = text
        guard let uuid = text.withUTF8({ UUID(ascii: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = uuid
    }

    /// The same, without a string to be made.
    init?(ascii bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 36 else { return nil }
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &value) { target in
            var offset = 0
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    guard bytes[offset] == UInt8(ascii: "-") else { return false }
                    offset += 1
                }
                let (high, low) = (Self.digit(bytes[offset]), Self.digit(bytes[offset + 1]))
                guard high | low < 16 else { return false }
                target[index] = high << 4 | low
                offset += 2
            }
            return true
        }
        guard isValid else { return nil }
        self.init(uuid: value)
    }

    /// The value of a hexadecimal digit; 255 for anything else.
    private static func digit(_ byte: UInt8) -> UInt8 {
        let decimal = byte &- UInt8(ascii: "0")
        if decimal < 10 { return decimal }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : .max
    }
}
