/// The origin of a page (RFC 6454 §4): scheme, host and port. It has the form that browsers send: in lowercase, and
/// without the scheme's default port.
package struct HTTPOrigin: Sendable, Hashable {
    /// The value of `Origin` (RFC 6454 §6.2), such as `https://example.org`.
    package let text: String
    private let scheme: Substring
    /// The host and the port, without the scheme's default port.
    private let authority: String

    /// Parses an origin such as `https://example.org`, `http://[::1]:8080` or `capacitor://localhost`, without a path.
    /// Returns `nil` for any other text, including `null`.
    package init?(_ text: some StringProtocol) {
        // Other characters are refused, because `lowercased` would turn a Kelvin sign into a k.
        guard text.utf8.count <= 512, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = text.lowercased()
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            return nil
        }
        scheme = text[..<colon]
        let authority = Array(text[colon...].utf8.dropFirst(3))
        // The characters of a scheme (RFC 3986 §3.1).
        guard scheme.first?.isLetter == true,
            scheme.utf8.allSatisfy({ ByteSet.token.contains($0) }),
            authority.withUnsafeBytes({ HTTPAuthority.isValid($0) }), authority.last != UInt8(ascii: ":")
        else { return nil }
        self.authority = Self.withoutDefaultPort(String(decoding: authority, as: UTF8.self), scheme)
        self.text = "\(scheme)://\(self.authority)"
    }

    private init(_ scheme: Substring, _ authority: String) {
        self.scheme = scheme
        self.authority = authority
        text = "\(scheme)://\(authority)"
    }

    /// This origin with an asterisk in place of the first label of its host, such as `https://*.example.org` for
    /// `https://a.example.org`. `nil` if no wildcard can match the origin.
    var wildcard: HTTPOrigin? {
        guard let dot = authority.firstIndex(of: "."), dot > authority.startIndex else { return nil }
        return HTTPOrigin(scheme, "*\(authority[dot...])")
    }

    var hasAsterisk: Bool { authority.contains("*") }

    /// Whether the first label of the host is an asterisk that stands for any label. The rest must be a name and not a
    /// part of an IP address.
    var isWildcard: Bool {
        guard authority.hasPrefix("*.") else { return false }
        let name = authority.dropFirst(2).prefix { $0 != ":" }
        return name.first != "." && !name.contains("*") && name.contains { $0.isLetter }
    }

    /// Whether a page of this origin is the server's own, compared with the request's `Host`. The scheme isn't
    /// compared, because a server behind a TLS proxy doesn't know its own scheme.
    package func isServed(by host: String) -> Bool {
        Self.withoutDefaultPort(host.lowercased(), scheme) == authority
    }

    private static func withoutDefaultPort(_ authority: String, _ scheme: Substring) -> String {
        let port =
            switch scheme {
            case "http", "ws": ":80"
            case "https", "wss": ":443"
            default: ""
            }
        return !port.isEmpty && authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
    }
}
