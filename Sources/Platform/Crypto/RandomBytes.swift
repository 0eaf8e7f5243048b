import COpenSSL

/// Unpredictable random bytes.
package enum RandomBytes {
    package static func make(_ count: Int) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_bytes(&bytes, CInt(count)) == 1 else { throw CryptoError("can't generate random bytes") }
        return bytes
    }
}
