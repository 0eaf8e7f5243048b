import Glibc

/// The parser of `host [ ":" port ]` (RFC 3986 §3.2.2, §3.2.3), as in `Host`, in an absolute target and in CONNECT.
/// User information (RFC 9110 §4.2.4) and an empty host (§4.2.1) are refused.
enum HTTPAuthority {
    static func isValid(_ bytes: UnsafeRawBufferPointer, needsPort: Bool = false) -> Bool {
        let hostEnd: Int
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstOffset(of: UInt8(ascii: "]")), isIPv6(bytes.part(1..<close)) else {
                return false
            }
            hostEnd = close + 1
        } else {
            hostEnd = bytes.firstOffset(of: UInt8(ascii: ":")) ?? bytes.count
            guard isRegisteredName(bytes.part(0..<hostEnd)) else { return false }
        }
        guard hostEnd < bytes.count else { return !needsPort }
        guard bytes[hostEnd] == UInt8(ascii: ":") else { return false }
        let port = bytes.part(hostEnd + 1..<bytes.count)
        return isPort(port) && !(needsPort && port.isEmpty)
    }

    /// Whether bytes are a port: `*DIGIT`. A port may be empty, and is at most 65535.
    private static func isPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= 5, bytes.allSatisfy(ASCII.isDigit) else { return false }
        return bytes.reduce(0) { $0 * 10 + Int($1 &- 0x30) } <= 65_535
    }

    /// Whether bytes are a name of letters, digits, punctuation and escapes. It has at most 255 bytes, the limit of DNS
    /// (RFC 1035 §2.3.4).
    private static func isRegisteredName(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !bytes.isEmpty, bytes.count <= 255 else { return false }
        let isName = bytes.allSatisfy { ByteSet.registeredName.contains($0) || $0 == UInt8(ascii: "%") }
        return isName && PercentEncoding.fault(in: bytes) == nil
    }

    /// Whether bytes are an IPv6 address without a zone. `IPvFuture` is refused, because no such address exists yet.
    private static func isIPv6(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // The longest form has 45 bytes. A NUL would end the C string too early.
        guard bytes.count <= 45, !bytes.contains(0) else { return false }
        var address = in6_addr()
        return String(decoding: bytes, as: UTF8.self).withCString { inet_pton(AF_INET6, $0, &address) } == 1
    }
}
