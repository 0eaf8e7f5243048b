import COpenSSL
import Glibc

/// A BIO, which is OpenSSL's interface to a network. It reads from and writes to the ``TLSTraffic/Ports`` that are set
/// as its data.
enum TLSBIO {
    private typealias Ports = TLSTraffic.Ports

    /// Makes a BIO, which the caller owns. Returns `nil` if memory is exhausted.
    static func make() -> OpaquePointer? {
        guard let method, let bio = BIO_new(method) else { return nil }
        BIO_set_init(bio, 1)
        return bio
    }

    /// Returns the ports that a session uses at present.
    static func ports(of session: OpaquePointer?) -> UnsafeMutablePointer<TLSTraffic.Ports>? {
        BIO_get_data(SSL_get_rbio(session))?.assumingMemoryBound(to: Ports.self)
    }

    /// The BIO_METHOD. `nonisolated(unsafe)` is safe because it is made once, and never changed or freed.
    private nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "memory"),
            BIO_meth_set_read(method, { bio, bytes, count in TLSBIO.read(bio, bytes, Int(count)) }) == 1,
            BIO_meth_set_write(method, { bio, bytes, count in TLSBIO.write(bio, bytes, Int(count)) }) == 1,
            BIO_meth_set_ctrl(method, { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }) == 1
        else { return nil }
        return method
    }()

    private static let retryFlags =
        BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    private static func read(_ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> CInt {
        BIO_clear_flags(bio, retryFlags)
        guard let ports = BIO_get_data(bio)?.assumingMemoryBound(to: Ports.self), let bytes, count > 0 else {
            return -1
        }
        let input = ports.pointee.input
        let taken = min(input.count, count)
        guard taken > 0, let start = input.baseAddress else {
            BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        memcpy(bytes, start, taken)
        ports.pointee.input = UnsafeRawBufferPointer(rebasing: input[taken...])
        return CInt(taken)
    }

    /// Takes all bytes or none. The buffer has enough space for one turn. If it hasn't, this is an error that ends the
    /// connection.
    private static func write(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int) -> CInt {
        BIO_clear_flags(bio, retryFlags)
        guard let ports = BIO_get_data(bio)?.assumingMemoryBound(to: Ports.self), let bytes, count >= 0 else {
            return -1
        }
        let (output, written) = (ports.pointee.output, ports.pointee.written)
        guard let start = output.baseAddress, count <= output.count - written else { return -1 }
        memcpy(start + written, bytes, count)
        ports.pointee.written += count
        return CInt(count)
    }
}
