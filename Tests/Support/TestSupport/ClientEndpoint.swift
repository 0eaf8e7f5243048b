package import Glibc

/// The address of a server, in the format of `--listen`: `127.0.0.1:8080`, `[::1]:8080`, `unix:/path`.
/// `tls:127.0.0.1:8443` gives only the address; the client must know that the server expects TLS.
package enum ClientEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// `host` is a numeric address, IPv4 or IPv6 without brackets. Tests don't look up names.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    /// Returns `nil` if the text has none of the three forms.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            self = .unix(path: String(text.dropFirst("unix:".count)))
            return
        }
        let text = text.hasPrefix("tls:") ? String(text.dropFirst("tls:".count)) : text
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self = .tcp(host: String(host), port: port)
    }

    package var description: String {
        switch self {
        case .tcp(let host, let port): "\(authorityHost(host)):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// The value of a client's `Host` field.
    package var authority: String {
        switch self {
        case .tcp: description
        case .unix: "localhost"
        }
    }

    private func authorityHost(_ host: String) -> String {
        host.contains(":") ? "[\(host)]" : host
    }
}

extension ClientEndpoint {
    var family: Int32 {
        switch self {
        case .tcp(let host, _): host.contains(":") ? AF_INET6 : AF_INET
        case .unix: AF_UNIX
        }
    }

    /// Calls `body` with the socket address, which is valid only during the call.
    package func withSocketAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(ClientFailure) -> Result {
        var storage = sockaddr_storage()
        let size: Int
        switch self {
        case .tcp(let host, let port) where family == AF_INET6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            guard inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else {
                throw .misuse("\(host) is no IPv6 address")
            }
            size = MemoryLayout<sockaddr_in6>.size
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in6.self) }
        case .tcp(let host, let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
                throw .misuse("\(host) is no IPv4 address")
            }
            size = MemoryLayout<sockaddr_in>.size
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_in.self) }
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            let room = MemoryLayout.size(ofValue: address.sun_path)
            guard bytes.count < room else { throw .misuse("\(path) is too long for a socket's path") }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            size = MemoryLayout<sockaddr_un>.size
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: sockaddr_un.self) }
        }
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
        }
    }
}
