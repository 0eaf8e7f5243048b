/// Base64 (RFC 4648 §4), as far as the WebSocket handshake needs it: a few bytes, with padding.
enum Base64 {
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    static func encode(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { encode($0) }
    }

    static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        let length = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: length) { text in
            var next = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let present = min(3, bytes.count - start)
                var bits = UInt32(bytes[start]) << 16
                if present > 1 { bits |= UInt32(bytes[start + 1]) << 8 }
                if present > 2 { bits |= UInt32(bytes[start + 2]) }
                for digit in 0..<4 {
                    let value = Int(bits >> UInt32(18 - 6 * digit) & 0x3F)
                    text[next] = digit <= present ? alphabet.utf8Start[value] : UInt8(ascii: "=")
                    next += 1
                }
            }
            return length
        }
    }

    /// Whether `text` is the base64 of 16 bytes, which is what `Sec-WebSocket-Key` has to be: 22 digits and `==`.
    static func isSixteenBytes(_ text: UnsafeRawBufferPointer) -> Bool {
        text.count == 24 && text[22] == UInt8(ascii: "=") && text[23] == UInt8(ascii: "=")
            && text[..<22].allSatisfy(ByteSet.base64.contains)
    }
}
