/// A set of ASCII bytes, stored in 128 bits. The bits are two constants in the code, so no table is loaded.
struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    private init(_ low: UInt64, _ high: UInt64) {
        self.low = low
        self.high = high
    }

    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low >> UInt64(byte) & 1 == 1 }
        return byte < 128 && high >> UInt64(byte &- 64) & 1 == 1
    }

    /// The bytes of `tchar` (RFC 9110 §5.6.2): letters, digits and ``!#$%&'*+-.^_`|~``.
    static var token: ByteSet { ByteSet(0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE) }

    /// The bytes of `reg-name` (RFC 3986 §3.2.2) without its escapes: letters, digits, `-._~` and `!$&'()*+,;=`.
    static var registeredName: ByteSet { ByteSet(0x2BFF_7FD2_0000_0000, 0x47FF_FFFE_87FF_FFFE) }

    /// The bytes that a request target may contain: all visible ASCII characters except `#`. RFC 3986 permits fewer,
    /// but browsers don't escape `|`, `"` and `{`. `#` isn't included, because a fragment is never sent (RFC 9110
    /// §7.1).
    static var target: ByteSet { ByteSet(0xFFFF_FFF6_0000_0000, 0x7FFF_FFFF_FFFF_FFFF) }

    /// The digits of base64 (RFC 4648 §4), without the padding.
    static var base64: ByteSet { ByteSet(0x03FF_8800_0000_0000, 0x07FF_FFFE_07FF_FFFE) }

    /// Whether a field's value may contain the byte (RFC 9110 §5.5): a visible character, a space, a tab, or a byte
    /// above ASCII.
    static func isFieldValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 ? byte != 0x7F : byte == 0x09
    }
}
