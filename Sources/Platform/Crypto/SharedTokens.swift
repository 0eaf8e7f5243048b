import COpenSSL
import FoundationEssentials
import Wire

/// JSON Web Tokens (RFC 7519) with a shared secret, signed only with HS256 (RFC 8725 §3.1). Any thread may use it.
package final class SharedTokens: Sendable {
    /// The maximum length of a token in bytes. Longer tokens are refused before they are parsed.
    package static let maximumBytes = 8_192

    private static let header = Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)

    /// The keys that signatures are checked with. The first one also signs.
    private let keys: [HMACSHA256Key]

    /// - Parameter secrets: The present secret, followed by the secrets that it replaces. RFC 7518 §3.2 requires at
    ///   least 32 bytes for each.
    package init(secrets: [[UInt8]]) throws(CryptoError) {
        var keys: [HMACSHA256Key] = []
        for secret in secrets { keys.append(try HMACSHA256Key(secret)) }
        self.keys = keys
    }

    /// Signs a token with the first secret.
    ///
    /// - Parameter claims: A JSON object.
    package func sign(claims: [UInt8]) throws(CryptoError) -> JSONWebToken {
        guard let key = keys.first else { throw CryptoError("there is no secret to sign a token with") }
        return try JSONWebToken(header: Self.header, claims: claims, key: key)
    }

    /// Returns the claims of a token: the signed JSON object. Throws unless one of the secrets signed the token and the
    /// token is valid now.
    ///
    /// - Parameter now: The present time in seconds since 1970. The check has no tolerance: a token ends exactly at
    ///   `exp`.
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

    /// Decodes base64url without padding, line breaks or white space (RFC 7515 §2).
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

/// The reason why a token is refused.
package enum JSONWebTokenFault: Error, Sendable, Hashable {
    /// The token isn't three parts of base64url, isn't valid JSON, or has a JSON member of the wrong type.
    case malformed
    /// The token is unsigned, is signed with another algorithm, or has an unknown critical extension (`crit`).
    case algorithm
    /// The token isn't signed with one of the secrets.
    case signature
    /// The token has no `exp`.
    case noExpiry
    case expired
    /// The token isn't valid yet: `nbf` is in the future.
    case early
    /// The token is for another audience (`aud`).
    case audience
}

extension JSONWebToken {
    /// Signs a token with HS256.
    ///
    /// - Parameters:
    ///   - header: A JSON object with `HS256` as `alg`.
    ///   - claims: A JSON object.
    fileprivate init(header: [UInt8], claims: [UInt8], key: HMACSHA256Key) throws(CryptoError) {
        let signed = "\(Base64.encodeForURL(header)).\(Base64.encodeForURL(claims))"
        self.init(signed: signed, signature: try key.authenticate(Array(signed.utf8)))
    }
}

extension HMACSHA256Key {
    /// Compares signatures in constant time. Returns `false` also if memory is exhausted.
    fileprivate func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard let code = try? authenticate(message), code.count == signature.count else { return false }
        return CRYPTO_memcmp(code, signature, code.count) == 0
    }
}

/// The JSON members of a header that are used (RFC 7515 §4.1).
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

/// The claims about validity and audience (RFC 7519 §4.1). Times may have fractions of a second.
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
        guard let expiry else { throw .noExpiry }
        guard now < expiry else { throw .expired }
        if let beginning, now < beginning { throw .early }
        guard !hasAudience else { throw .audience }
    }
}
