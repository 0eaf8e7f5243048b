/// A server's address: scheme, host and port, and a path if a proxy serves the server below a path.
///
/// ```swift
/// let local = try ServerAddress("http://127.0.0.1:8080")
/// let hosted = try ServerAddress("https://switch.example.org")
/// ```
public struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    /// Whether connections use TLS.
    ///
    /// ```swift
    /// try ServerAddress("https://example.org").isSecure  // true
    /// ```
    public let isSecure: Bool
    /// A name or an IP address, without brackets.
    ///
    /// ```swift
    /// try ServerAddress("http://[::1]:8080").host  // "::1"
    /// ```
    public let host: String
    /// The port. The default is 80, or 443 with TLS.
    ///
    /// ```swift
    /// try ServerAddress("https://example.org").port  // 443
    /// ```
    public let port: UInt16
    /// The prefix of every path: empty, or `/…` without a slash at its end.
    ///
    /// ```swift
    /// try ServerAddress("https://example.org/switch/").path  // "/switch"
    /// ```
    public let path: String

    /// Parses an address that begins with `http://`, `https://`, `ws://` or `wss://`, or that is only `host:port`. The
    /// latter means a connection without TLS.
    ///
    /// ```swift
    /// let server = try ServerAddress("127.0.0.1:8080")
    /// ```
    ///
    /// - Throws: ``ClientError/invalidAddress(_:)``.
    public init(_ text: String) throws(ClientError) {
        guard let parts = Parts(text) else { throw .invalidAddress(text) }
        isSecure = parts.isSecure
        host = parts.host
        port = parts.port
        path = parts.path
    }

    /// The address in the form that ``init(_:)`` parses.
    ///
    /// ```swift
    /// try ServerAddress("localhost:8080").description  // "http://localhost:8080"
    /// ```
    public var description: String { "\(isSecure ? "https" : "http")://\(authority)\(path)" }

    /// The value of the header field `Host`: `host:port`, without the scheme's default port.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    private struct Parts {
        var isSecure = false
        var host = ""
        var port: UInt16 = 80
        var path = ""

        init?(_ text: String) {
            var rest = text[...]
            if let end = text.range(of: "://") {
                switch text[..<end.lowerBound].lowercased() {
                case "http", "ws": break
                case "https", "wss": isSecure = true
                default: return nil
                }
                rest = text[end.upperBound...]
            }
            // The characters that a host, a port and a path may have. A user, a query or a fragment isn't allowed.
            let isPlain = rest.utf8.allSatisfy { (0x21...0x7E).contains($0) && !Self.refused.contains($0) }
            guard isPlain else { return nil }
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            path = String(rest[slash...])
            while path.hasSuffix("/") { path.removeLast() }
            guard let (host, port) = Self.authority(rest[..<slash]) else { return nil }
            self.host = host
            self.port = port ?? (isSecure ? 443 : 80)
        }

        private static let refused = Set("@?#\\\"<>%".utf8)

        private static func authority(_ text: Substring) -> (host: String, port: UInt16?)? {
            var host = text
            var port: UInt16?
            let end = text.lastIndex(of: "]")
            if let colon = text.lastIndex(of: ":"), end.map({ $0 < colon }) ?? true {
                guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
                port = number
                host = text[..<colon]
            }
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") {
                return nil
            }
            guard !host.isEmpty, host.utf8.count <= 253, !host.contains("["), !host.contains("]") else { return nil }
            return (String(host), port)
        }
    }
}

extension String {
    /// Returns the range of the first occurrence of `text`. FoundationEssentials doesn't have this method.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
