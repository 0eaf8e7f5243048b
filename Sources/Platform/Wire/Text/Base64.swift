/// Base64 (RFC 4648 §4), and the variant for URLs (§5).
package enum Base64 {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    private static let urlAlphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Encodes with padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        Array(bytes).withUnsafeBytes { encode($0, alphabet, isPadded: true) }
    }

    /// Appends the encoded bytes with padding, as ASCII.
    static func append(_ bytes: UnsafeRawBufferPointer, to buffer: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: encodedLength(bytes.count)) { text in
            let count = encode(bytes, alphabet, isPadded: true, to: text)
            buffer.append(contentsOf: text[..<count])
        }
    }

    /// Encodes for URLs, JSON Web Tokens and Web Push: with `-` and `_` and without padding.
    package static func encodeForURL(_ bytes: some Collection<UInt8>) -> String {
        Array(bytes).withUnsafeBytes { encode($0, urlAlphabet, isPadded: false) }
    }

    private static func encode(
        _ bytes: UnsafeRawBufferPointer, _ alphabet: StaticString, isPadded: Bool
    ) -> String {
        String(unsafeUninitializedCapacity: encodedLength(bytes.count)) { text in
            encode(bytes, alphabet, isPadded: isPadded, to: text)
        }
    }

    /// The length of the encoded bytes, with padding.
    private static func encodedLength(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Encodes bytes. Returns the number of digits that were written.
    private static func encode(
        _ bytes: UnsafeRawBufferPointer, _ alphabet: StaticString, isPadded: Bool,
        to text: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var next = 0
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let present = min(3, bytes.count - start)
            var bits = UInt32(bytes[start]) << 16
            if present > 1 { bits |= UInt32(bytes[start + 1]) << 8 }
            if present > 2 { bits |= UInt32(bytes[start + 2]) }
            for digit in 0..<4 where isPadded || digit <= present {
                let value = Int(bits >> UInt32(18 - 6 * digit) & 0x3F)
                text[next] = digit <= present ? alphabet.utf8Start[value] : UInt8(ascii: "=")
                next += 1
            }
        }
        return next
    }

    /// Decodes both variants, with or without padding.
    ///
    /// - Returns: `nil` if the text has an invalid character, an impossible length, wrong padding, or bits other than
    ///   zero after the last byte. With such bits, two texts would have the same bytes (§3.5).
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Array(text.utf8)
        let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding == 0 || (padding <= 2 && digits.count.isMultiple(of: 4)) else { return nil }
        digits.removeLast(padding)
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= (1 << count) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// Whether `text` is the base64 of 16 bytes: 22 digits and `==`. `Sec-WebSocket-Key` requires this.
    static func isSixteenBytes(_ text: UnsafeRawBufferPointer) -> Bool {
        text.count == 24 && text[22] == UInt8(ascii: "=") && text[23] == UInt8(ascii: "=")
            && text[..<22].allSatisfy(ByteSet.base64.contains)
    }
}
