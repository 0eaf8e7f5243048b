/// A point of the curve P-256 (secp256r1): somebody's public key.
package struct P256PublicKey: Sendable {
    /// An uncompressed point: `04`, and two coordinates of 32 bytes.
    package static let byteCount = 65

    package let key: EVPKey
    /// As it is sent: ``byteCount`` bytes.
    package let point: [UInt8]

    /// - Throws: When the bytes are no point of the curve. With another the shared secret would tell bits of the private key.
    package init(point: [UInt8]) throws(CryptoError) {
        key = try P256Encoding.publicKey(point)
        self.point = point
    }
}
