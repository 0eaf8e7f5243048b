/// Eight bytes in one word, with the first byte in the lowest bits. One operation computes a property of all eight
/// bytes.
///
/// In intermediate words, the top bit of each byte is set if the byte has the property. An addition to the other seven
/// bits sets the top bit if they reach a bound. The addition never carries into the next byte.
package struct EightBytes {
    private let word: UInt64
    /// The lower seven bits of each byte.
    private let low: UInt64

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        self.init(word: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    /// Creates the word from two numbers of four bytes each.
    package init(_ first: UInt32, _ second: UInt32) {
        self.init(word: UInt64(UInt32(littleEndian: first)) | UInt64(UInt32(littleEndian: second)) << 32)
    }

    private init(word: UInt64) {
        self.word = word
        low = word & Self.each(0x7F)
    }

    /// The four bytes that eight hexadecimal digits stand for, with the first in the lowest bits. `nil` if a byte isn't
    /// a digit.
    package var hexadecimal: UInt32? {
        let letters = letters(upTo: UInt8(ascii: "f"))
        guard (digits | letters) & ascii == Self.tops else { return nil }
        // The low four bits of `a` are 1, but its value is 10. Therefore 9 is added for each letter.
        let values = (word & Self.each(0x0F)) &+ (letters & Self.tops) >> 7 &* 9
        var bytes = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        bytes = (bytes | bytes >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: bytes | bytes >> 16)
    }

    /// Whether all bytes are letters, digits or hyphens. Nearly all names have only these.
    var areNameBytes: Bool {
        (letters(upTo: UInt8(ascii: "z")) | digits | ~differing(from: UInt8(ascii: "-"))) & ascii == Self.tops
    }

    /// Whether all bytes are printable ASCII (including space) or above ASCII.
    var arePrintable: Bool {
        (reaching(0x20) & ~reaching(0x7F) | ~ascii) & Self.tops == Self.tops
    }

    /// Whether all bytes are visible ASCII and none of them is `byte`.
    func areVisible(but byte: UInt8) -> Bool {
        reaching(0x21) & ~reaching(0x7F) & differing(from: byte) & ascii == Self.tops
    }

    private var ascii: UInt64 { ~word & Self.tops }
    private var digits: UInt64 { reaching(UInt8(ascii: "0")) & ~reaching(UInt8(ascii: "9") + 1) }

    /// Marks the letters up to `last`, which is a lowercase letter. Case is ignored.
    private func letters(upTo last: UInt8) -> UInt64 {
        let folded = low | Self.each(0x20)
        return (folded &+ Self.each(0x80 - UInt8(ascii: "a"))) & ~(folded &+ Self.each(0x80 - last - 1))
    }

    private func reaching(_ bound: UInt8) -> UInt64 {
        low &+ Self.each(0x80 - bound)
    }

    /// Marks the ASCII bytes that differ from `byte`.
    private func differing(from byte: UInt8) -> UInt64 {
        (low ^ Self.each(byte)) &+ Self.each(0x7F)
    }

    private static var tops: UInt64 { each(0x80) }

    private static func each(_ byte: UInt8) -> UInt64 {
        UInt64(byte) &* 0x0101_0101_0101_0101
    }
}

extension UnsafeRawBufferPointer {
    /// Whether `holds` is true for every byte. Eight bytes at a time are first tested with `holdsForEight`.
    /// `holdsForEight` may return `false` even if `holds` is `true` for all eight.
    func allSatisfy(_ holds: (UInt8) -> Bool, eight holdsForEight: (EightBytes) -> Bool) -> Bool {
        var index = 0
        while index < count {
            // The last eight bytes may overlap with the ones before.
            let start = Swift.min(index, count &- 8)
            if start >= 0, holdsForEight(EightBytes(self, at: start)) {
                index = start &+ 8
            } else if holds(self[index]) {
                index &+= 1
            } else {
                return false
            }
        }
        return true
    }

    /// Whether the bytes are a `token` (RFC 9110 §5.6.2) or empty.
    var areTokenBytes: Bool { allSatisfy(ByteSet.token.contains, eight: { $0.areNameBytes }) }

    /// Whether a field's value may contain the bytes (RFC 9110 §5.5).
    var areFieldValueBytes: Bool { allSatisfy(ByteSet.isFieldValue, eight: { $0.arePrintable }) }

    /// Whether a request target may contain the bytes, see ``ByteSet/target``.
    var areTargetBytes: Bool {
        allSatisfy(ByteSet.target.contains, eight: { $0.areVisible(but: UInt8(ascii: "#")) })
    }
}
