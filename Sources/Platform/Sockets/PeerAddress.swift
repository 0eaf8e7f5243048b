import CLinux
import Glibc

/// The IP address of a connection's peer, in the sixteen bytes of IPv6. An IPv4 address is mapped into IPv6 (RFC 4291
/// §2.5.5.2). The port is left out, because it doesn't identify a client.
package struct PeerAddress: Sendable, Hashable {
    /// The first eight bytes, as a number.
    package let high: UInt64
    /// The last eight bytes, as a number.
    package let low: UInt64

    /// Converts an address from the kernel. Returns `nil` for a Unix socket.
    init?(_ storage: sockaddr_storage) {
        let bytes: (high: UInt64, low: UInt64)? = withUnsafeBytes(of: storage) { memory in
            switch CInt(storage.ss_family) {
            case AF_INET:
                let address = memory.loadUnaligned(as: sockaddr_in.self).sin_addr
                return (0, 0xFFFF << 32 | UInt64(UInt32(bigEndian: address.s_addr)))
            case AF_INET6:
                let address = memory.loadUnaligned(as: sockaddr_in6.self).sin6_addr
                return withUnsafeBytes(of: address) {
                    (
                        UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                    )
                }
            default:
                return nil
            }
        }
        guard let bytes else { return nil }
        (high, low) = bytes
    }
}
