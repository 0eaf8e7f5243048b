import TestSupport
import Testing
import Wire

@testable import Crypto

@Suite struct SharedTokenTests {
    /// RFC 7515 appendix A.1: its key, and a token that is valid until 1300819380.
    private static let rfcKey =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
    private static let rfcClaims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let rfcToken =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(rfcClaims).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let rfcExpiry = 1_300_819_380.0

    private static let secret = Array("a secret of at least 32 bytes, or so".utf8)
    private static let other = Array("another secret of at least 32 bytes".utf8)

    private func token(header: String = #"{"alg":"HS256"}"#, _ claims: String, secret: [UInt8] = Self.secret) throws
        -> String
    {
        let signed = "\(Base64.encodeForURL(Array(header.utf8))).\(Base64.encodeForURL(Array(claims.utf8)))"
        let code = try HMACSHA256.authenticate(Array(signed.utf8), key: secret)
        return "\(signed).\(Base64.encodeForURL(code))"
    }

    /// The fault of a token at second 1000; `nil` if it is valid.
    private func fault(_ token: String, secrets: [[UInt8]] = [Self.secret]) throws -> JSONWebTokenFault? {
        let tokens = try SharedTokens(secrets: secrets)
        do throws(JSONWebTokenFault) {
            _ = try tokens.claims(of: token, at: 1_000)
            return nil
        } catch {
            return error
        }
    }

    @Test("The token of RFC 7515 is accepted until it expires") func rfc7515() throws {
        let tokens = try SharedTokens(secrets: [try #require(Base64.decode(Self.rfcKey))])
        let claims = try tokens.claims(of: Self.rfcToken, at: Self.rfcExpiry - 0.001)
        #expect(claims == Base64.decode(Self.rfcClaims))
        #expect(throws: JSONWebTokenFault.expired) { try tokens.claims(of: Self.rfcToken, at: Self.rfcExpiry) }
        #expect(throws: JSONWebTokenFault.signature) {
            try SharedTokens(secrets: [Self.secret]).claims(of: Self.rfcToken, at: 0)
        }
    }

    @Test("An unsecured token, as in RFC 7519 §6.1, is refused for its algorithm") func unsecured() throws {
        #expect(try fault("eyJhbGciOiJub25lIn0.\(Self.rfcClaims).") == .algorithm)
    }

    @Test("The server accepts its own tokens, and signs with the first of two secrets") func ownTokens() throws {
        let claims = Array(#"{"exp":1001,"sub":"ada"}"#.utf8)
        let text = try SharedTokens(secrets: [Self.secret, Self.other]).sign(claims: claims).text
        #expect(try text == token(header: #"{"alg":"HS256","typ":"JWT"}"#, #"{"exp":1001,"sub":"ada"}"#))
        #expect(try SharedTokens(secrets: [Self.other, Self.secret]).claims(of: text, at: 1_000) == claims)
        #expect(try fault(text, secrets: [Self.other]) == .signature)
        #expect(throws: CryptoError.self) { try SharedTokens(secrets: []).sign(claims: claims) }
        #expect(try fault(text, secrets: []) == .signature)
    }

    @Test(
        "A header with another algorithm or critical members is refused although the signature is right",
        arguments: [
            #"{"alg":"none"}"#, #"{"alg":"hs256"}"#, #"{"alg":"HS384"}"#, #"{"alg":"RS256"}"#, #"{"alg":""}"#,
            #"{"alg":"HS256","crit":["b64"],"b64":false}"#, #"{"alg":"HS256","crit":[]}"#,
        ])
    func algorithm(header: String) throws {
        #expect(try fault(token(header: header, #"{"exp":2000}"#)) == .algorithm)
    }

    @Test(
        "A text that isn't three parts of base64url with objects is malformed",
        arguments: [
            "", ".", "..", "...", "a.b", "ada", "e30.e30.", "e30.e30.e30.e30", "ada.ada.ada",
            "eyJhbGciOiJIUzI1NiJ9=.e30.e30", "eyJhbGciOiJIUzI1NiJ9.e30.e+/=", " eyJhbGciOiJIUzI1NiJ9.e30.e30",
            "eyJhbGciOiJIUzI1NiJ9.e30.e30\n", "eyJhbGciOiJIUzI1NiJ8.e30.e30", "W10.e30.e30", "bnVsbA.e30.e30",
        ])
    func malformed(text: String) throws {
        #expect(try fault(text) == .malformed)
    }

    @Test(
        "Valid claims are accepted",
        arguments: [
            #"{"exp":1001}"#, #"{"exp":1000.5}"#, #"{"exp":2e3}"#, #"{"exp":1e300}"#, #"{"exp":1001,"nbf":1000}"#,
            #"{"exp":1001,"nbf":-1e9,"iat":5000,"iss":[1],"😀":null}"#,
        ])
    func valid(claims: String) throws {
        #expect(try fault(token(claims)) == nil)
    }

    @Test(
        "Invalid claims are refused, each with its reason",
        arguments: [
            (#"{}"#, JSONWebTokenFault.noExpiry), (#"{"nbf":1,"EXP":2000}"#, .noExpiry),
            (#"{"exp":1000}"#, .expired), (#"{"exp":999.9}"#, .expired), (#"{"exp":-1}"#, .expired),
            (#"{"exp":0}"#, .expired), (#"{"exp":2000,"nbf":1000.1}"#, .early),
            (#"{"exp":2000,"aud":"others"}"#, .audience), (#"{"exp":2000,"aud":null}"#, .audience),
            (#"{"exp":"2000"}"#, .malformed), (#"{"exp":null}"#, .malformed), (#"{"exp":true}"#, .malformed),
            (#"{"exp":[2000]}"#, .malformed), (#"{"exp":1e999}"#, .malformed), (#"{"exp":2000,"nbf":"1"}"#, .malformed),
            (#"{"exp":2000,"nbf":null}"#, .malformed), (#"[2000]"#, .malformed), (#""exp""#, .malformed),
            (#"null"#, .malformed), (#"{"exp":2000,}"#, .malformed), (#"{"exp":02000}"#, .malformed), ("", .malformed),
        ])
    func refused(claims: String, expected: JSONWebTokenFault) throws {
        #expect(try fault(token(claims)) == expected)
    }

    @Test("A token with another secret is refused before its claims are read") func order() throws {
        #expect(try fault(token("no JSON", secret: Self.other)) == .signature)
        #expect(try fault(token(#"{"exp":1}"#, secret: Self.other)) == .signature)
    }

    @Test("A token over the maximum length is refused, and one of that length isn't") func length() throws {
        func tokenOf(padding: Int) throws -> String {
            try token(#"{"exp":2000,"pad":"\#(String(repeating: "x", count: padding))"}"#)
        }
        let room = SharedTokens.maximumBytes - (try tokenOf(padding: 0).utf8.count)
        let longest = try tokenOf(padding: room / 4 * 3)
        #expect((SharedTokens.maximumBytes - 4...SharedTokens.maximumBytes).contains(longest.utf8.count))
        #expect(try fault(longest) == nil)
        #expect(try fault(tokenOf(padding: room / 4 * 3 + 8)) == .malformed)
    }

    @Test("A token with any change is refused") func mutations()
        throws
    {
        let valid = try token(#"{"exp":2000,"sub":"ada","topics":["room:*"]}"#)
        #expect(try fault(valid) == nil)
        var random = SeededRandom(seed: 16)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0é".utf8)
        for _ in 0..<4_000 {
            var bytes = Array(valid.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = alphabet.randomElement(using: &random) ?? 0
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.remove(at: place)
                default: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if text != valid { #expect(try fault(text) != nil, "\(text)") }
        }
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? alphabet.randomElement(using: &random) ?? 0 : .random(in: 0...255, using: &random)
            }
            #expect(try fault(String(decoding: bytes, as: UTF8.self)) != nil)
        }
        // Claims of random characters with a valid signature.
        let grammar = Array(#"{}[]",:exp0123456789.-eE+ nbfaudtrue\"#)
        for _ in 0..<1_000 {
            let claims = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                grammar.randomElement(using: &random) ?? "{"
            }
            _ = try fault(token(String(claims)))
        }
    }
}
