import Foundation
import TestSupport
import Testing
import Wire

@testable import Crypto

@Suite struct P256Tests {
    /// RFC 7515 appendix A.3.
    private static let scalar = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"
    private static let coordinates = [
        "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    ]
    private static let token =
        "eyJhbGciOiJFUzI1NiJ9"
        + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    private static func point() throws -> [UInt8] {
        try [4] + coordinates.flatMap { try #require(Base64.decode($0)) }
    }

    @Test("The scalar of RFC 7515 has its public point")
    func scalarOfRFC7515HasItsPublicPoint() throws {
        let scalar = try #require(Base64.decode(Self.scalar))
        let key = try P256PrivateKey(scalar: scalar)
        #expect(key.publicPoint == (try Self.point()))
        #expect(try key.scalar() == scalar)
    }

    @Test("The token of RFC 7515 is accepted")
    func tokenOfRFC7515IsAccepted() throws {
        let (header, claims) = try ES256Verifier(P256PublicKey(point: Self.point())).decode(Self.token)
        #expect(header == ["alg": "ES256"])
        #expect(claims["iss"] == "joe")
        #expect(claims["exp"] == 1_300_819_380)
    }

    @Test("Only a signed message is accepted")
    func onlySignedMessageIsAccepted() throws {
        let scalar = try #require(Base64.decode(Self.scalar))
        let key = try P256PrivateKey(scalar: scalar)
        let verifier = ES256Verifier(try P256PublicKey(point: key.publicPoint))
        // Some of 600 signatures have numbers that begin with zeros, whose DER is shorter.
        for count in 0..<600 {
            let message = Array("message \(count)".utf8)
            let signature = try key.signature(of: message)
            #expect(signature.count == 64)
            #expect(verifier.accepts(signature, of: message))
            #expect(!verifier.accepts(signature, of: message + [0]))
        }
        let other = try P256PrivateKey.generate()
        #expect(!verifier.accepts(try other.signature(of: []), of: []))
    }

    @Test("A token contains its header and claims")
    func tokenContainsItsHeaderAndClaims() throws {
        let key = try P256PrivateKey.generate()
        let token = try JSONWebToken(
            header: Array(#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8), claims: Array(#"{"iat":1437179036}"#.utf8),
            key: key)
        let (header, claims) = try ES256Verifier(P256PublicKey(point: key.publicPoint)).decode(token.text)
        #expect(header == ["alg": "ES256", "kid": "ABC123DEFG"])
        #expect(claims == ["iat": 1_437_179_036])
        #expect(!token.text.contains("="))
    }

    @Test("Two keys agree on the same secret from either side")
    func twoKeysAgreeOnSameSecretFromEitherSide() throws {
        let (one, other) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
        let secret = try one.sharedSecret(with: P256PublicKey(point: other.publicPoint))
        #expect(secret == (try other.sharedSecret(with: P256PublicKey(point: one.publicPoint))))
        #expect(secret.count == 32)
    }

    @Test("A point off the curve is refused")
    func pointOffCurveIsRefused() throws {
        let point = try Self.point()
        #expect(throws: Never.self) { try P256PublicKey(point: point) }
        var off = point
        off[64] ^= 1
        var compressed = Array(point.prefix(33))
        compressed[0] = 3
        var zero = [UInt8](repeating: 0, count: 65)
        zero[0] = 4
        for wrong in [off, compressed, zero, [0], [], point + [0], [UInt8](repeating: 255, count: 65)] {
            #expect(throws: CryptoError.self) { try P256PublicKey(point: wrong) }
        }
    }

    @Test("A scalar outside the group is refused")
    func scalarOutsideGroupIsRefused() throws {
        let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        var last = order
        last[31] -= 1
        #expect(throws: Never.self) { try P256PrivateKey(scalar: last) }
        for wrong in [order, [UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32), [1], []] {
            #expect(throws: CryptoError.self) { try P256PrivateKey(scalar: wrong) }
        }
    }

    @Test("A PEM key of the OpenSSL command is read")
    func pemKeyOfOpenSSLCommandIsRead() async throws {
        let authority = try await TestAuthority()
        let path = "\(authority.directory)/key.p8"
        try await authority.openssl([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path,
        ])
        let pem = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let key = try P256PrivateKey(pem: pem)
        #expect(try P256PrivateKey(scalar: key.scalar()).publicPoint == key.publicPoint)

        let encrypted = "\(authority.directory)/encrypted.p8"
        try await authority.openssl(["pkcs8", "-topk8", "-in", path, "-out", encrypted, "-passout", "pass:secret"])
        let other = "\(authority.directory)/other.p8"
        try await authority.openssl([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", other,
        ])
        for file in [encrypted, other, authority.file] {
            let text = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
            #expect(throws: CryptoError.self) { try P256PrivateKey(pem: text) }
        }
        for broken in [[], Array("hello".utf8), Array(pem.dropLast(60))] {
            #expect(throws: CryptoError.self) { try P256PrivateKey(pem: broken) }
        }
    }

    /// RFC 8188 §3.1. Its record is one byte longer than the text, because of the padding.
    @Test("AES-128-GCM matches the example of RFC 8188")
    func aes128GCMIsThatOfRFC8188() throws {
        let key = try #require(Base64.decode("_wniytB-ofscZDh4tbSjHw"))
        let nonce = try #require(Base64.decode("Bcs8gkIRKLI8GeI8"))
        let sealed = try AES128GCM.seal(Array("I am the walrus".utf8) + [2], key: key, nonce: nonce)
        #expect(Base64.encodeForURL(sealed) == "-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
        #expect(throws: CryptoError.self) { try AES128GCM.seal([1], key: key + [0], nonce: nonce) }
        #expect(throws: CryptoError.self) { try AES128GCM.seal([1], key: key, nonce: []) }
    }
}
