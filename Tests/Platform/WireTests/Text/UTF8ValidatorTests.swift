import Testing

@testable import Wire

@Suite struct UTF8ValidatorTests {
    static let valid: [[UInt8]] = [
        [], Array("Hello".utf8), Array("Hello-µ@ßöäüàá-UTF-8!!".utf8), Array("κόσμε".utf8), [0x00], [0x7F],
        [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
        [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], Array("eight by eight, and then an ä and more ASCII".utf8),
    ]

    /// Invalid sequences, and the number of bytes after which each is known to be invalid. If a sequence ends too
    /// early, the number is its length plus one.
    static let invalid: [([UInt8], Int)] = [
        ([0x80], 1), ([0xBF], 1), ([0xC0], 1), ([0xC1], 1), ([0xF5], 1), ([0xFE], 1), ([0xFF], 1),
        ([0xC0, 0xAF], 1), ([0xE0, 0x80, 0xAF], 2), ([0xE0, 0x9F, 0xBF], 2), ([0xF0, 0x8F, 0xBF, 0xBF], 2),
        ([0xED, 0xA0, 0x80], 2), ([0xED, 0xBF, 0xBF], 2), ([0xF4, 0x90, 0x80, 0x80], 2), ([0xF8, 0x88], 1),
        ([0xC2, 0x41], 2), ([0xE2, 0x82, 0x41], 3), ([0xF0, 0x9F, 0x98, 0xC0], 4), ([0xC2], 2), ([0xE2, 0x82], 3),
        ([0xF0, 0x9F, 0x98], 4), (Array("12345678".utf8) + [0xFF], 9), (Array("1234567".utf8) + [0xE2, 0x28], 9),
    ]

    private func isValid(_ pieces: [[UInt8]]) -> Bool {
        var validator = UTF8Validator()
        for piece in pieces {
            guard withExactMemory(piece, { validator.append(UnsafeRawBufferPointer($0)) }) else { return false }
        }
        return validator.isComplete
    }

    @Test(
        "Valid text is accepted in every split",
        arguments: valid)
    func validTextIsTakenInEverySplit(_ bytes: [UInt8]) {
        for pieces in arrivals(of: bytes) { #expect(isValid(pieces)) }
    }

    @Test(
        "An error is detected at its first wrong byte",
        arguments: invalid)
    func errorIsDetectedAtItsFirstWrongByte(_ bytes: [UInt8], _ fault: Int) {
        for pieces in arrivals(of: bytes) { #expect(!isValid(pieces)) }
        var validator = UTF8Validator()
        let seen = bytes.firstIndex { byte in !withExactMemory([byte]) { validator.append(UnsafeRawBufferPointer($0)) }
        }
        #expect((seen ?? bytes.count) + 1 == fault)
    }

    @Test("Random bytes have the standard library's result")
    func itAgreesWithTheStandardLibraryOnRandomBytes() {
        var random = SeededRandom(seed: 7)
        // The bytes are near the bounds of the ranges, so half of the sequences are nearly valid.
        let bytes: [UInt8] = [
            0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE2, 0xED, 0xEF, 0xF0, 0xF4, 0xF5,
        ]
        var valid = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in bytes.randomElement(using: &random) ?? 0 }
            let expected = String(validating: text, as: UTF8.self) != nil
            valid += expected ? 1 : 0
            #expect(isValid([text]) == expected, "\(text)")
        }
        #expect(valid > 100)
    }

    @Test("Every scalar is valid")
    func everyScalarIsValid() {
        var text: [UInt8] = []
        for value in stride(from: UInt32(0), through: 0x10FFFF, by: 61) {
            if let scalar = Unicode.Scalar(value) { text += UTF8.encode(scalar).map(Array.init) ?? [] }
        }
        #expect(isValid([text]))
    }
}
