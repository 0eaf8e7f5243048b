import Glibc

/// An IP address in the sixteen bytes of IPv6. An IPv4 address is mapped into IPv6, as `::ffff:192.0.2.1` (RFC 4291
/// §2.5.5.2). Both forms of an address are therefore equal.
package struct IPAddress: Sendable, Hashable {
    /// The first eight bytes, as a number.
    package let high: UInt64
    /// The last eight bytes, as a number.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(ipv4 address: UInt32) {
        self.init(high: 0, low: 0xFFFF << 32 | UInt64(address))
    }

    /// Creates an address from sixteen bytes in network order. Returns `nil` for any other number of bytes.
    init?(ipv6 bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// Parses an address such as `192.0.2.1` or `2001:db8::1`, without port, brackets or zone.
    package init?(_ text: some StringProtocol) {
        // The longest form has 45 bytes. A NUL would end the C string too early.
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            var address = in6_addr()
            guard text.withCString({ inet_pton(AF_INET6, $0, &address) }) == 1,
                let value = withUnsafeBytes(of: &address, IPAddress.init(ipv6:))
            else { return nil }
            self = value
        } else {
            var address = in_addr()
            guard text.withCString({ inet_pton(AF_INET, $0, &address) }) == 1 else { return nil }
            self.init(ipv4: UInt32(bigEndian: address.s_addr))
        }
    }

    package var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// Whether the address is in `127.0.0.0/8`, or is `::1`.
    package var isLoopback: Bool { isIPv4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

    /// The address or network by which limits count: an IPv4 address, or an IPv6 network of 64 bits. A host can choose
    /// the other bits of its IPv6 address freely (RFC 4291 §2.5.4).
    package var subscriber: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }
}

extension IPAddress: CustomStringConvertible {
    /// The address as text, such as `192.0.2.1` or `2001:db8::1`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isIPv4 {
            var address = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
            inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        } else {
            var address = in6_addr()
            withUnsafeMutableBytes(of: &address) {
                $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
