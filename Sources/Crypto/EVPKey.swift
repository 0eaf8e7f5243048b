import COpenSSL

/// An EVP_PKEY and its life.
package final class EVPKey: @unchecked Sendable {
    // Sendable holds: the key isn't changed once it is made, every operation has a context of its own, and OpenSSL guards what
    // it keeps with the key.

    package let handle: OpaquePointer

    /// Takes the key over.
    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        EVP_PKEY_free(handle)
    }
}
