import Testing

@testable import Crypto

@Suite struct DigestTests {
    @Test("SHA-256 matches the examples of FIPS 180")
    func sha256IsThatOfFIPS180() throws {
        #expect(
            try SHA256.digest(Array("abc".utf8))
                == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    }

    /// RFC 4231 §4.2, §4.3 and §4.7: keys of 20 bytes, of 4 bytes, and of more than a block.
    @Test(
        "HMAC matches the examples of RFC 4231",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func hmacIsThatOfRFC4231(key: [UInt8], message: String, expected: String) throws {
        #expect(try HMACSHA256.authenticate(Array(message.utf8), key: key) == bytes(expected))
        let prepared = try HMACSHA256Key(key)
        for _ in 0..<2 { #expect(try prepared.authenticate(Array(message.utf8)) == bytes(expected)) }
    }

    @Test("An empty key and an empty message have a code")
    func emptyKeyAndEmptyMessageHaveCode() throws {
        #expect(
            try HMACSHA256.authenticate([], key: [])
                == bytes("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }

    /// RFC 5869 appendix A.1 (the first 32 of its 42 bytes) and A.3 (neither salt nor info).
    @Test(
        "HKDF matches the examples of RFC 5869",
        arguments: [
            (
                "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
            ),
            ("", "", "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"),
        ])
    func hkdfIsThatOfRFC5869(salt: String, info: String, expected: String) throws {
        let material = [UInt8](repeating: 0x0b, count: 22)
        for count in [12, 16, 32] {
            #expect(
                try HKDFSHA256.derive(
                    salt: bytes(salt), keyMaterial: material, info: bytes(info), byteCount: count)
                    == Array(bytes(expected).prefix(count)))
        }
    }

    @Test("Random bytes have the requested number, and differ each time")
    func randomBytesAreAsManyAsAskedForAndNotTheSameTwice() throws {
        #expect(try RandomBytes.make(0).isEmpty)
        let (one, other) = (try RandomBytes.make(32), try RandomBytes.make(32))
        #expect(one.count == 32)
        #expect(one != other)
    }
}
