package import Features
import Glibc

/// An address to accept connections on: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` or `unix:/path`. An address
/// with TLS has a prefix: `tls:0.0.0.0:443`.
///
/// The parser reads the form of the description. The caller resolves names. Nothing here does I/O.
package enum ListenAddress: Sendable, Hashable {
    /// An IPv4 or IPv6 address without brackets, or a host name. Port 0 selects a free port.
    case tcp(host: String, port: UInt16)
    /// An address like ``tcp(host:port:)`` that uses TLS.
    case tls(host: String, port: UInt16)
    /// The absolute path of a Unix socket, at most ``maxPathBytes`` bytes.
    case unix(path: String)

    /// `sun_path` holds 108 bytes, the last of which is the terminating NUL.
    package static let maxPathBytes = 107

    /// - Throws: ``InvalidValue``, which says what is wrong and how an address is written.
    package init(parsing text: String) throws(InvalidValue) {
        if text.hasPrefix("unix:") {
            self = try .unix(path: Self.path(text.dropFirst("unix:".count)))
            return
        }
        if text.hasPrefix("tls:") {
            let (host, port) = try Self.hostAndPort(text.dropFirst("tls:".count), in: text)
            self = .tls(host: host, port: port)
        } else {
            let (host, port) = try Self.hostAndPort(text[...], in: text)
            self = .tcp(host: host, port: port)
        }
    }

    /// - Parameter whole: The whole text, for error messages.
    private static func hostAndPort(
        _ text: Substring, in whole: String
    ) throws(InvalidValue) -> (host: String, port: UInt16) {
        let host: Substring
        let port: Substring
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]"), text[bracket...].hasPrefix("]:") else {
                throw InvalidValue(whole, "an IPv6 address must be written like [::1]:8080")
            }
            host = text[text.index(after: text.startIndex)..<bracket]
            port = text[bracket...].dropFirst(2)
            guard isIPv6(host) else { throw InvalidValue(whole, "the text in brackets must be an IPv6 address") }
        } else {
            guard let colon = text.lastIndex(of: ":") else {
                throw InvalidValue(whole, "must be an address like 127.0.0.1:8080, [::1]:8080 or unix:/path")
            }
            host = text[..<colon]
            port = text[colon...].dropFirst()
            if host.contains(":") { throw InvalidValue(whole, "an IPv6 address must be written like [::1]:8080") }
            if host.isEmpty {
                throw InvalidValue(whole, "the address before the colon is missing (0.0.0.0 means every IPv4 address)")
            }
            guard isHost(host) else {
                throw InvalidValue(whole, "the part before the colon must be an IP address or a host name")
            }
        }
        return (String(host), try Self.port(port, in: whole))
    }

    /// Parses the port of an address or of the variable `PORT`.
    static func port(_ digits: Substring, in text: String) throws(InvalidValue) -> UInt16 {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits) else {
            throw InvalidValue(text, "the port must be a number from 0 to 65535")
        }
        return port
    }

    private static func path(_ path: Substring) throws(InvalidValue) -> String {
        guard path.hasPrefix("/") else {
            throw InvalidValue("unix:\(path)", "the path of a Unix socket must begin with /")
        }
        guard path.utf8.count > 1, path.utf8.count <= maxPathBytes, !path.utf8.contains(0) else {
            throw InvalidValue("unix:\(path)", "the path of a Unix socket must have at most \(maxPathBytes) bytes")
        }
        return String(path)
    }

    /// Returns whether the text is a host. Digits and dots must be an IPv4 address, because the resolver would accept
    /// `127.1` and `10` too.
    private static func isHost(_ host: Substring) -> Bool {
        if host.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) {
            var address = in_addr()
            return inet_pton(AF_INET, String(host), &address) == 1
        }
        return host.utf8.count <= 253
            && host.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }

    private static func isIPv6(_ host: Substring) -> Bool {
        // A link-local address may name its network interface: fe80::1%eth0 (RFC 4007 §11).
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count == 1 || parts[1].utf8.count > 0 else { return false }
        var address = in6_addr()
        return inet_pton(AF_INET6, String(first), &address) == 1
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port): Self.text(host, port)
        case .tls(let host, let port): "tls:\(Self.text(host, port))"
        case .unix(let path): "unix:\(path)"
        }
    }

    private static func text(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
