import COpenSSL
import FoundationEssentials
import Wire

/// JSON Web Tokens (RFC 7519) of those who share a secret: signed with HS256, and with nothing else (RFC 8725 §3.1). Any thread.
package final class SharedTokens: Sendable {
    /// Longer ones are refused before anything is made of them.
    package static let maximumBytes = 8_192

    private static let header = Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)

    /// The first signs.
    private let keys: [HMACSHA256Key]

    /// - Parameter secrets: One, and those that it is to replace. RFC 7518 §3.2 wants 32 bytes at least in each.
    package init(secrets: [[UInt8]]) throws(CryptoError) {
        var keys: [HMACSHA256Key] = []
        for secret in secrets { keys.append(try HMACSHA256Key(secret)) }
        self.keys = keys
    }

    /// A token signed with the first secret.
    ///
    /// - Parameter claims: A JSON object.
    package func sign(claims: [UInt8]) throws(CryptoError) -> JSONWebToken {
        guard let key = keys.first else { throw CryptoError("a token without a secret") }
        return try JSONWebToken(header: Self.header, claims: claims, key: key)
    }

    /// The claims of a token, a JSON object as it was signed, when it is signed with one of the secrets and in force.
    ///
    /// - Parameter now: In seconds since 1970. There is no leeway: at `exp` a token is over.
    package func claims(of token: String, at now: Double) throws(JSONWebTokenFault) -> [UInt8] {
        let token = Array(token.utf8)
        guard token.count <= Self.maximumBytes else { throw .malformed }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            let signature = Self.decode(parts[2])
        else { throw .malformed }
        try Self.decode(TokenHeader.self, header).check()
        let signed = Array(token[..<parts[1].endIndex])
        guard keys.contains(where: { $0.isSignature(signature, of: signed) }) else { throw .signature }
        try Self.decode(TokenTimes.self, claims).check(at: now)
        return claims
    }

    /// RFC 7515 §2: the alphabet for URLs, without padding, line breaks or white space.
    private static func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        part.contains(where: "+/=".utf8.contains) ? nil : Base64.decode(String(decoding: part, as: UTF8.self))
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ json: [UInt8]
    ) throws(JSONWebTokenFault) -> Value {
        guard json.withUnsafeBytes(JSONSyntax.isValid), let value = try? JSONDecoder().decode(type, from: Data(json))
        else { throw .malformed }
        return value
    }
}

/// Why a token isn't believed.
package enum JSONWebTokenFault: Error, Sendable, Hashable {
    /// Not three parts of base64url, no JSON in them, a member of the wrong type.
    case malformed
    /// Signed in another way, or not at all; or its signer demands what isn't understood here (`crit`).
    case algorithm
    /// Not signed with one of our secrets.
    case signature
    /// There is no `exp`.
    case everlasting
    case expired
    /// `nbf` is yet to come.
    case early
    /// It names for whom it is (`aud`), and nobody here goes by such a name.
    case audience
}

extension JSONWebToken {
    /// A token signed with HS256.
    ///
    /// - Parameters:
    ///   - header: A JSON object, naming `HS256` as `alg`.
    ///   - claims: A JSON object.
    fileprivate init(header: [UInt8], claims: [UInt8], key: HMACSHA256Key) throws(CryptoError) {
        let signed = "\(Base64.encodeForURL(header)).\(Base64.encodeForURL(claims))"
        self.init(signed: signed, signature: try key.authenticate(Array(signed.utf8)))
    }
}

extension HMACSHA256Key {
    /// Takes the same time wherever the two differ. `false` too when there is no memory to tell.
    fileprivate func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let code = try? authenticate(message), code.count == signature.count else { return false }
        return CRYPTO_memcmp(code, signature, code.count) == 0
    }
}

/// What of a header is looked at (RFC 7515 §4.1).
private struct TokenHeader: Decodable {
    let algorithm: String
    let hasCriticalMembers: Bool

    private enum Member: String, CodingKey {
        case alg, crit
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        algorithm = try members.decode(String.self, forKey: .alg)
        hasCriticalMembers = members.contains(.crit)
    }

    func check() throws(JSONWebTokenFault) {
        guard algorithm.utf8.elementsEqual("HS256".utf8), !hasCriticalMembers else { throw .algorithm }
    }
}

/// The claims that say when a token holds, and for whom (RFC 7519 §4.1). Times may have fractions.
private struct TokenTimes: Decodable {
    let expiry: Double?
    let beginning: Double?
    let hasAudience: Bool

    private enum Member: String, CodingKey {
        case exp, nbf, aud
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        expiry = try members.contains(.exp) ? members.decode(Double.self, forKey: .exp) : nil
        beginning = try members.contains(.nbf) ? members.decode(Double.self, forKey: .nbf) : nil
        hasAudience = members.contains(.aud)
    }

    func check(at now: Double) throws(JSONWebTokenFault) {
        guard let expiry else { throw .everlasting }
        guard now < expiry else { throw .expired }
        if let beginning, now < beginning { throw .early }
        guard !hasAudience else { throw .audience }
    }
}
