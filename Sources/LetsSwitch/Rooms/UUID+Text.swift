import FoundationEssentials

extension UUID {
    /// Parses a UUID as it is written (RFC 9562 §4): 36 characters, letters in either case. `UUID(uuidString:)` would also take
    /// signs, blanks and `0x` in the place of digits.
    init?(text: String) {
        self.init(ascii: text.utf8)
    }

    /// The same, without a string to be made.
    init?(ascii bytes: some Collection<UInt8>) {
        guard bytes.count == 36 else { return nil }
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &value) { target in
            var digits = 0
            for (offset, byte) in bytes.enumerated() {
                if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
                    guard byte == UInt8(ascii: "-") else { return false }
                    continue
                }
                let digit: UInt8
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
                default: return false
                }
                target[digits / 2] = target[digits / 2] << 4 | digit
                digits += 1
            }
            return true
        }
        guard isValid else { return nil }
        self.init(uuid: value)
    }
}
