import COpenSSL

/// Keys of P-256 from their bytes: by way of the DER that names the curve, which OpenSSL reads and checks.
enum P256Encoding {
    static let group = "prime256v1"
    /// Of a scalar, of a coordinate, of either half of a signature.
    static let scalarByteCount = 32

    /// SubjectPublicKeyInfo (RFC 5480 §2) up to the point.
    private static let publicPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    /// ECPrivateKey (RFC 5915 §3) up to the scalar, and behind it; the public key is left out, and computed.
    private static let privatePrefix: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
    private static let privateSuffix: [UInt8] = [
        0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]

    /// The key of an uncompressed point; throws when that is off the curve.
    static func publicKey(_ point: [UInt8]) throws(CryptoError) -> EVPKey {
        ERR_clear_error()
        guard point.count == P256PublicKey.byteCount, point.first == 4 else {
            throw CryptoError("a public key of \(P256PublicKey.byteCount) bytes is wanted")
        }
        let der = publicPrefix + point
        let handle = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_PUBKEY(nil, &start, buffer.count)
        }
        guard let handle else { throw CryptoError("a point of the curve P-256") }
        return EVPKey(handle)
    }

    /// The key of a scalar; throws when that is 0, or not below the group's order.
    static func privateKey(_ scalar: [UInt8]) throws(CryptoError) -> EVPKey {
        ERR_clear_error()
        guard scalar.count == scalarByteCount else {
            throw CryptoError("a private key of \(scalarByteCount) bytes is wanted")
        }
        let der = privatePrefix + scalar + privateSuffix
        let handle = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, buffer.count)
        }
        guard let handle else { throw CryptoError("a private key of the curve P-256") }
        let key = EVPKey(handle)
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { throw CryptoError("memory") }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_private_check(context) == 1 else { throw CryptoError("a private key of the curve P-256") }
        return key
    }
}
