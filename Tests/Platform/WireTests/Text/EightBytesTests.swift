import Testing

@testable import Wire

@Suite struct EightBytesTests {
    /// Calls `body` with every byte at every place. The other bytes are valid, and at the bounds of the valid ranges.
    private func forEachByteAndPlace(_ body: (UInt8, EightBytes, String) throws -> Void) rethrows {
        for place in 0..<8 {
            for byte in UInt8.min...UInt8.max {
                var bytes = Array("09afAF09".utf8)
                bytes[place] = byte
                try bytes.withUnsafeBytes { try body(byte, EightBytes($0, at: 0), "\(byte) at \(place)") }
            }
        }
    }

    @Test("Every byte is checked independently")
    func everyByteIsCheckedIndependently() {
        let names = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-".utf8)
        forEachByteAndPlace { byte, eight, place in
            #expect(eight.areNameBytes == names.contains(byte), "\(place)")
            #expect(eight.arePrintable == (byte >= 0x20 && byte != 0x7F), "\(place)")
            #expect(eight.areVisible(but: 0x23) == ((0x21...0x7E).contains(byte) && byte != 0x23), "\(place)")
            #expect((eight.hexadecimal != nil) == (byte < 128 && Character(UnicodeScalar(byte)).isHexDigit), "\(place)")
        }
    }

    @Test(
        "Digits become bytes in order",
        arguments: [
            ("00000000", [0, 0, 0, 0]), ("0123cdef", [0x01, 0x23, 0xCD, 0xEF]), ("89ABFEDC", [0x89, 0xAB, 0xFE, 0xDC]),
            ("ffffffff", [255, 255, 255, 255]),
        ] as [(String, [UInt8])])
    func digitsBecomeBytesInTheirOrder(_ text: String, _ expected: [UInt8]) throws {
        let value = try #require(Array(text.utf8).withUnsafeBytes { EightBytes($0, at: 0).hexadecimal })
        #expect((0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } == expected)
    }

    /// Texts shorter and longer than a word, with every byte at every place.
    @Test("A whole text passes if each byte does")
    func wholeTextPassesIfEachByteDoes() {
        for count in 0...20 {
            for place in 0..<count {
                for byte in UInt8.min...UInt8.max {
                    var text = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                    text[place] = byte
                    text.withUnsafeBytes { bytes in
                        #expect(bytes.areTokenBytes == ByteSet.token.contains(byte))
                        #expect(bytes.areFieldValueBytes == ByteSet.isFieldValue(byte))
                        #expect(bytes.areTargetBytes == ByteSet.target.contains(byte))
                    }
                }
            }
        }
    }
}
