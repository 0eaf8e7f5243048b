import COpenSSL

/// AES-128-GCM (NIST SP 800-38D), without additional data.
package enum AES128GCM {
    package static let keyByteCount = 16
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    /// Returns the ciphertext followed by the tag. The same pair of key and nonce must not be used for a second
    /// message.
    package static func seal(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        guard key.count == keyByteCount, nonce.count == nonceByteCount else {
            throw CryptoError("the key or the nonce has the wrong length")
        }
        guard let context = EVP_CIPHER_CTX_new() else { throw CryptoError("out of memory") }
        defer { EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        var (count, more): (CInt, CInt) = (0, 0)
        // GCM has no padding, so `EVP_EncryptFinal_ex` writes no bytes.
        guard EVP_EncryptInit_ex2(context, EVP_aes_128_gcm(), key, nonce, nil) == 1,
            EVP_EncryptUpdate(context, &sealed, &count, plaintext, CInt(clamping: plaintext.count)) == 1,
            count == sealed.count, EVP_EncryptFinal_ex(context, nil, &more) == 1, more == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(tag.count), &tag) == 1
        else { throw CryptoError("can't encrypt") }
        return sealed + tag
    }
}
