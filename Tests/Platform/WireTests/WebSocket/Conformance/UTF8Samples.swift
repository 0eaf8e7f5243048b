/// Byte sequences at and beyond the limits of UTF-8 (RFC 3629 §4).
enum UTF8Samples {
    struct Valid: Sendable {
        let name: String
        let bytes: [UInt8]

        init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    struct Invalid: Sendable {
        let name: String
        let bytes: [UInt8]
        /// The number of bytes after which the sequence is known to be invalid; `nil` if only its end shows that.
        let shownBy: Int?

        init(_ name: String, _ bytes: [UInt8], _ shownBy: Int?) {
            self.name = name
            self.bytes = bytes
            self.shownBy = shownBy
        }
    }

    static let valid: [Valid] = [
        Valid("U+0000", [0x00]), Valid("U+007F", [0x7F]), Valid("U+0080", [0xC2, 0x80]), Valid("U+07FF", [0xDF, 0xBF]),
        Valid("U+0800", [0xE0, 0xA0, 0x80]), Valid("U+1000", [0xE1, 0x80, 0x80]), Valid("U+CFFF", [0xEC, 0xBF, 0xBF]),
        Valid("U+D7FF, before the surrogates", [0xED, 0x9F, 0xBF]), Valid("U+E000, after them", [0xEE, 0x80, 0x80]),
        Valid("U+FEFF, the byte order mark", [0xEF, 0xBB, 0xBF]), Valid("U+FFFD", [0xEF, 0xBF, 0xBD]),
        Valid("U+FFFE, no character", [0xEF, 0xBF, 0xBE]), Valid("U+FFFF, no character", [0xEF, 0xBF, 0xBF]),
        Valid("U+10000", [0xF0, 0x90, 0x80, 0x80]), Valid("U+3FFFF", [0xF0, 0xBF, 0xBF, 0xBF]),
        Valid("U+40000", [0xF1, 0x80, 0x80, 0x80]), Valid("U+FFFFF", [0xF3, 0xBF, 0xBF, 0xBF]),
        Valid("U+10FFFF", [0xF4, 0x8F, 0xBF, 0xBF]),
        Valid("Greek", Array("κόσμε".utf8)), Valid("a family of emoji", Array("👩‍👩‍👧".utf8)),
    ]

    static let invalid: [Invalid] = [
        Invalid("a continuation byte alone", [0x80], 1), Invalid("the last continuation byte alone", [0xBF], 1),
        Invalid("C0, which nothing begins with", [0xC0, 0x80], 1), Invalid("C1", [0xC1, 0xBF], 1),
        Invalid("F5", [0xF5, 0x80, 0x80, 0x80], 1),
        Invalid("F8", [0xF8, 0x88, 0x80, 0x80, 0x80], 1), Invalid("FC", [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], 1),
        Invalid("FE", [0xFE], 1),
        Invalid("FF", [0xFF], 1), Invalid("an overlong slash in two bytes", [0xC0, 0xAF], 1),
        Invalid("an overlong slash in three bytes", [0xE0, 0x80, 0xAF], 2),
        Invalid("an overlong slash in four bytes", [0xF0, 0x80, 0x80, 0xAF], 2),
        Invalid("an overlong U+07FF", [0xE0, 0x9F, 0xBF], 2),
        Invalid("an overlong U+FFFF", [0xF0, 0x8F, 0xBF, 0xBF], 2),
        Invalid("U+D800, a surrogate", [0xED, 0xA0, 0x80], 2), Invalid("U+DFFF, a surrogate", [0xED, 0xBF, 0xBF], 2),
        Invalid("a pair of surrogates", [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], 2),
        Invalid("U+110000", [0xF4, 0x90, 0x80, 0x80], 2),
        Invalid("two bytes of which one is ASCII", [0xC3, 0x41], 2),
        Invalid("three bytes of which one is ASCII", [0xE2, 0x82, 0x41], 3),
        Invalid("four bytes of which one is ASCII", [0xF0, 0x9F, 0x98, 0x41], 4),
        Invalid("a lead byte after a lead byte", [0xC3, 0xC3], 2),
        Invalid("the end within two bytes", [0xC3], nil), Invalid("the end within three bytes", [0xE2, 0x82], nil),
        Invalid("the end within four bytes", [0xF0, 0x9F, 0x98], nil),
    ]
}
