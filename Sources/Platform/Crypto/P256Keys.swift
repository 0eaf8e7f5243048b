import COpenSSL

/// A private key of the curve P-256, for signatures and key agreement. Any thread may use it, because each operation
/// has its own context.
package struct P256PrivateKey: Sendable {
    private let key: EVPKey
    /// The public key: ``P256PublicKey/byteCount`` bytes.
    package let publicPoint: [UInt8]

    private init(_ key: EVPKey) throws(CryptoError) {
        var point = [UInt8](repeating: 0, count: P256PublicKey.byteCount)
        var count = 0
        guard
            EVP_PKEY_get_octet_string_param(
                key.handle, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, &point, point.count, &count) == 1,
            count == point.count, point.first == 4
        else { throw CryptoError("can't read the public part of a key") }
        self.key = key
        publicPoint = point
    }

    /// Generates a new key.
    package static func generate() throws(CryptoError) -> P256PrivateKey {
        ERR_clear_error()
        guard let handle = CEVP_EC_gen("P-256") else { throw CryptoError("can't create a key") }
        return try P256PrivateKey(EVPKey(handle))
    }

    /// Reads a key in PEM, as PKCS#8 (the format of Apple's `.p8` files) or SEC 1. Encrypted keys are refused.
    package init(pem: [UInt8]) throws(CryptoError) {
        ERR_clear_error()
        guard let source = BIO_new(BIO_s_mem()) else { throw CryptoError("out of memory") }
        defer { BIO_free(source) }
        // `BIO_write` copies the bytes. The array's own memory is valid only during the call.
        guard pem.isEmpty || BIO_write(source, pem, CInt(clamping: pem.count)) == pem.count else {
            throw CryptoError("out of memory")
        }
        // Without this callback, OpenSSL would ask for a passphrase at the terminal.
        guard let handle = PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil) else {
            throw CryptoError("not a private key in PEM without a passphrase")
        }
        let key = EVPKey(handle)
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_is_a(handle, "EC") == 1,
            EVP_PKEY_get_group_name(handle, &name, name.count, &count) == 1,
            String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) == P256Encoding.group
        else { throw CryptoError("the key is not of the curve P-256") }
        self = try P256PrivateKey(key)
    }

    /// Makes a key from the 32 bytes of its scalar, the format of Web Push tools.
    package init(scalar: [UInt8]) throws(CryptoError) {
        self = try P256PrivateKey(P256Encoding.privateKey(scalar))
    }

    /// Returns the 32 bytes of the scalar, which are secret.
    package func scalar() throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key.handle, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1, let number else {
            throw CryptoError("can't read the scalar of a key")
        }
        defer { BN_clear_free(number) }
        return try Self.bytes(of: number)
    }

    /// Signs with ES256 (RFC 7518 §3.4). Returns 64 bytes: r and s. Two signatures of the same message differ.
    package func signature(of message: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        guard let context = EVP_MD_CTX_new() else { throw CryptoError("out of memory") }
        defer { EVP_MD_CTX_free(context) }
        // In DER, two numbers of 32 bytes take at most 72 bytes.
        var der = [UInt8](repeating: 0, count: 80)
        var count = der.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.handle) == 1,
            EVP_DigestSign(context, &der, &count, message, message.count) == 1
        else { throw CryptoError("can't create a signature") }
        let numbers = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &start, count)
        }
        guard let numbers else { throw CryptoError("can't create a signature") }
        defer { ECDSA_SIG_free(numbers) }
        return try Self.bytes(of: ECDSA_SIG_get0_r(numbers)) + Self.bytes(of: ECDSA_SIG_get0_s(numbers))
    }

    /// Returns the 32 bytes of the shared secret, by ECDH (RFC 8291 §3.1). Only the owners of the two private keys can
    /// compute it.
    package func sharedSecret(with other: P256PublicKey) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil) else { throw CryptoError("out of memory") }
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: P256Encoding.scalarByteCount)
        var count = secret.count
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, other.key.handle) == 1,
            EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
        else { throw CryptoError("can't compute a shared secret") }
        return secret
    }

    private static func bytes(of number: OpaquePointer?) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: P256Encoding.scalarByteCount)
        guard BN_bn2binpad(number, &bytes, CInt(bytes.count)) == bytes.count else {
            throw CryptoError("can't encode a number")
        }
        return bytes
    }
}

/// A public key: a point of the curve P-256 (secp256r1).
package struct P256PublicKey: Sendable {
    /// The size of an uncompressed point: the byte `04`, and two coordinates of 32 bytes.
    package static let byteCount = 65

    package let key: EVPKey
    /// The ``byteCount`` bytes of the point, in the form that is sent.
    package let point: [UInt8]

    /// - Throws: ``CryptoError`` if the bytes aren't a point of the curve. A shared secret with such a point would
    ///   reveal bits of the private key.
    package init(point: [UInt8]) throws(CryptoError) {
        key = try P256Encoding.publicKey(point)
        self.point = point
    }
}

/// Makes P-256 keys from bytes. The bytes are wrapped in DER that names the curve, and OpenSSL parses and checks it.
enum P256Encoding {
    static let group = "prime256v1"
    /// The size of a scalar, a coordinate, and each half of a signature.
    static let scalarByteCount = 32

    /// The bytes of SubjectPublicKeyInfo (RFC 5480 §2) that come before the point.
    private static let publicPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    /// The bytes of ECPrivateKey (RFC 5915 §3) that come before and after the scalar. The optional public key is left
    /// out, and OpenSSL computes it.
    private static let privatePrefix: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
    private static let privateSuffix: [UInt8] = [
        0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]

    /// Returns the key of an uncompressed point. Throws if the point is off the curve.
    static func publicKey(_ point: [UInt8]) throws(CryptoError) -> EVPKey {
        ERR_clear_error()
        guard point.count == P256PublicKey.byteCount, point.first == 4 else {
            throw CryptoError("a public key must have \(P256PublicKey.byteCount) bytes")
        }
        let der = publicPrefix + point
        let handle = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_PUBKEY(nil, &start, buffer.count)
        }
        guard let handle else { throw CryptoError("the public key is not a point of the curve P-256") }
        return EVPKey(handle)
    }

    /// Returns the key of a scalar. Throws if the scalar is 0 or isn't below the group's order.
    static func privateKey(_ scalar: [UInt8]) throws(CryptoError) -> EVPKey {
        ERR_clear_error()
        guard scalar.count == scalarByteCount else {
            throw CryptoError("a private key must have \(scalarByteCount) bytes")
        }
        let der = privatePrefix + scalar + privateSuffix
        let handle = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, buffer.count)
        }
        guard let handle else { throw CryptoError("the private key is not valid for the curve P-256") }
        let key = EVPKey(handle)
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else { throw CryptoError("out of memory") }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_private_check(context) == 1 else {
            throw CryptoError("the private key is not valid for the curve P-256")
        }
        return key
    }
}

/// The owner of an `EVP_PKEY`.
package final class EVPKey: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the key isn't changed after it is made, and every operation has its own
    // context. OpenSSL protects the data that it stores with the key.

    package let handle: OpaquePointer

    /// Takes ownership of the key.
    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        EVP_PKEY_free(handle)
    }
}
