import Crypto
import HTTPClient
import TestSupport
import Testing
import Wire

@testable import Notifications

@Suite struct WebPushEncryptionTests {
    private static func bytes(_ text: String) throws -> [UInt8] {
        try #require(Base64.decode(text))
    }

    /// The example of RFC 8291 §5 and appendix A, byte by byte.
    @Test("A message matches the example of RFC 8291")
    func aMessageIsThatOfRFC8291() throws {
        let keys = WebPushKeys(
            publicKey: try P256PublicKey(
                point: Self.bytes(
                    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")),
            secret: try Self.bytes("BTBZMqHH6r4Tts7J_aSIgg"))
        let body = try keys.encrypt(
            Array("When I grow up, I want to be a watermelon".utf8),
            sender: P256PrivateKey(scalar: Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")),
            salt: Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        #expect(
            Base64.encodeForURL(body)
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
                + "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    }

    /// RFC 8188 §3.1.
    @Test("The content coding matches the example of RFC 8188")
    func contentCodingMatchesExampleOfRFC8188() throws {
        let body = try EncryptedContent.encode(
            Array("I am the walrus".utf8), keyMaterial: Self.bytes("yqdlZ-tYemfogSmv7Ws5PQ"), keyName: [],
            salt: Self.bytes("I1BsxtFttlv3u_Oo94xnmw"))
        #expect(Base64.encodeForURL(body) == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    }

    @Test("A browser decrypts its message")
    func browserDecryptsItsMessage() throws {
        let (browser, other) = (try WebPushReceiver(), try WebPushReceiver())
        let keys = WebPushKeys(
            publicKey: try P256PublicKey(point: browser.key.publicPoint), secret: browser.secret)
        for count in [0, 1, 100, WebPushKeys.maxPlaintextBytes] {
            let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let body = try keys.encrypt(text)
            #expect(body.count <= 4096)
            #expect(try browser.decrypt(body) == text)
            #expect(throws: (any Error).self) { try other.decrypt(body) }
            #expect(try keys.encrypt(text) != body)
        }
        #expect(WebPushKeys.maxPlaintextBytes == 3993)
    }

    /// RFC 8292 §2.4: its token is accepted, and ours has the same format.
    @Test("A token has the format of RFC 8292")
    func aTokenIsThatOfRFC8292() throws {
        let point = try Self.bytes(
            "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs")
        let (header, claims) = try ES256Verifier(P256PublicKey(point: point)).decode(
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1"
                + "YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1Jr"
                + "ErtmysazNjjvW2L9OkSSHzvoD1oA")
        let key = try P256PrivateKey.generate()
        let ours = try VAPIDToken(
            audience: "https://push.example.net", contact: "mailto:push@example.com", expiry: 1_453_523_768, key: key)
        let words = ours.authorization.split(separator: " ").map(String.init)
        try #require(words.count == 3)
        #expect(words[0] == "vapid")
        #expect(words[2] == "k=\(Base64.encodeForURL(key.publicPoint))")
        #expect(words[1].hasPrefix("t=") && words[1].hasSuffix(","))
        let decoded = try ES256Verifier(P256PublicKey(point: key.publicPoint)).decode(
            String(words[1].dropFirst(2).dropLast()))
        #expect(decoded.header == header)
        #expect(decoded.claims == claims)
    }

    @Test("A token is used for six hours and for one push service")
    func tokenIsUsedForSixHoursAndForOnePushService() throws {
        let start = 1_795_338_000
        var tokens = VAPIDTokenCache(key: try .generate(), contact: "mailto:ops@example.org")
        let first = try tokens.authorization(for: "https://a.example", at: start)
        #expect(try tokens.authorization(for: "https://a.example", at: start + 6 * 3600 - 1) == first)
        let other = try tokens.authorization(for: "https://b.example", at: start)
        #expect(other != first)
        #expect(try tokens.authorization(for: "https://a.example", at: start + 6 * 3600) != first)
        // The cache keeps a limited number of tokens, because users may name any number of push services.
        for number in 0..<VAPIDTokenCache.most {
            _ = try tokens.authorization(for: "https://\(number).example", at: start)
        }
        #expect(try tokens.authorization(for: "https://b.example", at: start) != other)
    }

    @Test(
        "Every response leads to its outcome",
        arguments: [
            (200, AttemptOutcome.accepted), (201, .accepted), (202, .accepted), (404, .gone("status 404")),
            (410, .gone("status 410")), (413, .refused("status 413")), (400, .refused("status 400")),
            (401, .refused("status 401")), (403, .refused("status 403")), (301, .refused("status 301")),
            (429, .retry(after: .seconds(7), "status 429")), (503, .retry(after: .seconds(7), "status 503")),
            (500, .retry(after: .seconds(7), "status 500")),
        ])
    func everyResponseLeadsToItsOutcome(_ status: Int, _ outcome: AttemptOutcome) {
        let response = OutgoingResponse(status: status, headers: [HTTPField("Retry-After", "7")])
        #expect(WebPushProvider.outcome(of: response) == outcome)
    }
}
