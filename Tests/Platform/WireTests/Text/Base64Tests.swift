import Testing

@testable import Wire

@Suite struct Base64Tests {
    /// RFC 4648 §10, and texts with the digits in which the two alphabets differ.
    private static let texts = [
        ("", "", ""), ("f", "Zg==", "Zg"), ("fo", "Zm8=", "Zm8"), ("foo", "Zm9v", "Zm9v"),
        ("foob", "Zm9vYg==", "Zm9vYg"), ("fooba", "Zm9vYmE=", "Zm9vYmE"), ("foobar", "Zm9vYmFy", "Zm9vYmFy"),
        ("\0\0", "AAA=", "AAA"), ("???", "Pz8/", "Pz8_"), (">>>", "Pj4+", "Pj4-"),
    ]

    @Test(
        "Both alphabets match RFC 4648",
        arguments: texts)
    func bothAlphabetsAreThoseOfRFC4648(_ text: String, _ padded: String, _ forURLs: String) {
        #expect(Base64.encode(text.utf8) == padded)
        #expect(Base64.encodeForURL(text.utf8) == forURLs)
        #expect(Base64.decode(padded) == Array(text.utf8))
        #expect(Base64.decode(forURLs) == Array(text.utf8))
    }

    @Test("Encoded bytes are decoded unchanged")
    func whatWasEncodedIsDecoded() {
        var random = SystemRandomNumberGenerator()
        for count in 0...70 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64.decode(Base64.encodeForURL(bytes)) == bytes)
        }
    }

    /// Invalid characters, impossible lengths, padding of the wrong length or in the wrong place, and bits beyond the
    /// last byte.
    @Test(
        "Invalid base64 is refused",
        arguments: [
            "Z", "Zm9vY", "Zg=", "Zg===", "Zm9v=", "Zm9v====", "=", "==", "Z===", "Zm=v", "Zm9 ", "Zm9v\n", "Zh==",
            "Zh",
            "Zm9=", "Zm9", "Zm9ä", "%%%%",
        ])
    func whatIsNoBase64IsRefused(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
