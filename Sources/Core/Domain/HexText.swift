import Wire

/// Converts bytes to hexadecimal digits in lowercase, and back.
package enum HexText {
    package static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }

    /// - Parameters:
    /// - value: Less than 16.
    /// - ten: The letter for 10. Its case decides the case of the other letters.
    static func digit(_ value: UInt8, ten: UInt8 = UInt8(ascii: "a")) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : ten - 10 + value
    }

    /// Returns nil unless the text is pairs of digits.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = ASCII.hexValue(digits[index]), let low = ASCII.hexValue(digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
