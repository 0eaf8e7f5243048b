import Wire

/// A JSON Web Token (RFC 7519) signed with ES256.
package struct JSONWebToken: Sendable, Equatable {
    /// Three parts of base64url, split by dots: for an `Authorization` field.
    package let text: String

    /// - Parameters:
    ///   - header: A JSON object, naming `ES256` as `alg`.
    ///   - claims: A JSON object.
    package init(header: [UInt8], claims: [UInt8], key: P256PrivateKey) throws(CryptoError) {
        let signed = "\(Base64.encodeForURL(header)).\(Base64.encodeForURL(claims))"
        text = "\(signed).\(Base64.encodeForURL(try key.signature(of: Array(signed.utf8))))"
    }
}
