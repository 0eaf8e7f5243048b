import Glibc

/// An IP address as the sixteen bytes of IPv6. An IPv4 address is mapped, `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2), so
/// that the same address is equal in both forms.
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

    /// Sixteen bytes in network order; `nil` for another number of bytes.
    init?(ipv6 bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// Reads `192.0.2.1` or `2001:db8::1`: no port, no brackets, no zone.
    package init?(_ text: some StringProtocol) {
        // The longest form has 45 bytes. NUL would end the C string early.
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

    /// `127.0.0.0/8` or `::1`.
    package var isLoopback: Bool { isIPv4 ? low >> 24 & 0xFF == 127 : high == 0 && low == 1 }

    /// The unit of limits per address: an IPv4 address, or an IPv6 network of 64 bits. A host chooses the rest of its
    /// IPv6 address freely (RFC 4291 §2.5.4).
    package var subscriber: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }
}

extension IPAddress: CustomStringConvertible {
    /// `192.0.2.1`, `2001:db8::1`.
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
