import COpenSSL
package import Crypto
import Foundation
import Wire

/// Verifies ES256 signatures, as the recipients of a token do.
package struct ES256Verifier: Sendable {
    private let key: P256PublicKey

    package init(_ key: P256PublicKey) {
        self.key = key
    }

    /// Whether the key's owner signed the message. The signature has 64 bytes, r and s.
    package func accepts(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard signature.count == 64, let numbers = ECDSA_SIG_new() else { return false }
        defer { ECDSA_SIG_free(numbers) }
        let r = BN_bin2bn(signature, 32, nil)
        let s = signature.suffix(32).withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
        guard ECDSA_SIG_set0(numbers, r, s) == 1 else { return false }
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(numbers, &der)
        guard count > 0, let der, let context = EVP_MD_CTX_new() else { return false }
        defer {
            CRYPTO_free(der, #file, #line)
            EVP_MD_CTX_free(context)
        }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.key.handle) == 1
            && EVP_DigestVerify(context, der, Int(count), message, message.count) == 1
    }

    /// Returns a token's header and claims, if the key's owner signed it.
    package func decode(_ token: String) throws -> (header: TestJSON, claims: TestJSON) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decode(parts[0]), let claims = Base64.decode(parts[1]),
            let signature = Base64.decode(parts[2])
        else { throw ClientFailure.violation("no token: \(token)") }
        guard accepts(signature, of: Array("\(parts[0]).\(parts[1])".utf8)) else {
            throw ClientFailure.violation("a token of somebody else's: \(token)")
        }
        return (try TestJSON(parsing: header), try TestJSON(parsing: claims))
    }
}
