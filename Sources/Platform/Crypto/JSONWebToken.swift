import Wire

/// A JSON Web Token (RFC 7519), signed.
package struct JSONWebToken: Sendable, Equatable {
    /// The token: three parts of base64url, separated by dots, for an `Authorization` field.
    package let text: String

    /// Signs a token with ES256.
    ///
    /// - Parameters:
    ///   - header: A JSON object with `ES256` as `alg`.
    ///   - claims: A JSON object.
    package init(header: [UInt8], claims: [UInt8], key: P256PrivateKey) throws(CryptoError) {
        let signed = "\(Base64.encodeForURL(header)).\(Base64.encodeForURL(claims))"
        self.init(signed: signed, signature: try key.signature(of: Array(signed.utf8)))
    }

    /// - Parameter signed: The header and the claims in base64url, which the signature covers.
    init(signed: String, signature: [UInt8]) {
        text = "\(signed).\(Base64.encodeForURL(signature))"
    }
}
