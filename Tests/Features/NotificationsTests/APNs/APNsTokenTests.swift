import Crypto
import TestSupport
import Testing

@testable import Notifications

@Suite struct APNsTokenTests {
    private static let start = 1_795_338_000

    private static func token() throws -> (APNsToken, ES256Verifier) {
        let key = try P256PrivateKey.generate()
        let credentials = APNsCredentials(
            keyId: "ABC123DEFG", teamId: "DEF123GHIJ", topic: "org.example.app", key: key)
        return (APNsToken(credentials), ES256Verifier(try P256PublicKey(point: key.publicPoint)))
    }

    @Test("A token contains key, team and time")
    func tokenContainsKeyTeamAndTime() throws {
        var (token, verifier) = try Self.token()
        let (header, claims) = try verifier.decode(token.text(at: Self.start))
        #expect(header == ["alg": "ES256", "kid": "ABC123DEFG"])
        #expect(claims == ["iss": "DEF123GHIJ", "iat": .number(Double(Self.start))])
    }

    @Test("A token is used for forty minutes")
    func tokenIsUsedForFortyMinutes() throws {
        var (token, verifier) = try Self.token()
        let first = try token.text(at: Self.start)
        for later in [0, 1, 1200, 2399] { #expect(try token.text(at: Self.start + later) == first) }
        let second = try token.text(at: Self.start + 2400)
        #expect(second != first)
        #expect(try verifier.decode(second).claims["iat"].int == Self.start + 2400)
    }

    @Test("A clock that is set back makes a new token")
    func clockThatIsSetBackMakesNewToken() throws {
        var (token, verifier) = try Self.token()
        let first = try token.text(at: Self.start)
        let second = try token.text(at: Self.start - 1)
        #expect(second != first)
        #expect(try verifier.decode(second).claims["iat"].int == Self.start - 1)
    }

    /// Several requests may report that the same token has expired: only one new token is made. No token is replaced
    /// within its first 20 minutes.
    @Test("An expired token is replaced once")
    func expiredTokenIsReplacedOnce() throws {
        var (token, _) = try Self.token()
        let first = try token.text(at: Self.start)
        let tooEarly = token.hasExpired(first, at: Self.start + 1199)
        #expect(!tooEarly)
        #expect(try token.text(at: Self.start + 1199) == first)
        let isReplaced = token.hasExpired(first, at: Self.start + 1200)
        #expect(isReplaced)
        let second = try token.text(at: Self.start + 1200)
        #expect(second != first)
        let wasReplaced = token.hasExpired(first, at: Self.start + 1200)
        #expect(wasReplaced)
        #expect(try token.text(at: Self.start + 1200) == second)
        let isTooYoung = !token.hasExpired(second, at: Self.start + 1201)
        #expect(isTooYoung)
    }
}
