/// The origin of a page (RFC 6454 §4): scheme, host, port. As browsers write it: small letters, no port where it is the
/// scheme's own.
package struct HTTPOrigin: Sendable, Hashable {
    /// `https://example.org`, as it stands in `Origin` (RFC 6454 §6.2).
    package let text: String
    private let scheme: Substring
    /// Host and port, the port left out where it is the scheme's own.
    private let authority: String

    /// Reads `https://example.org`, `http://[::1]:8080`, `capacitor://localhost`: nothing behind host and port. `nil` for
    /// anything else, so for `null` too.
    package init?(_ text: some StringProtocol) {
        // To `lowercased`, a Kelvin sign is a K too.
        guard text.utf8.count <= 512, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = text.lowercased()
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            return nil
        }
        scheme = text[..<colon]
        let authority = Array(text[colon...].utf8.dropFirst(3))
        // RFC 3986 §3.1.
        guard scheme.first?.isLetter == true,
            scheme.utf8.allSatisfy({ ByteSet.token.contains($0) }),
            authority.withUnsafeBytes({ HTTPAuthority.isValid($0) }), authority.last != UInt8(ascii: ":")
        else { return nil }
        self.authority = Self.withoutDefaultPort(String(decoding: authority, as: UTF8.self), scheme)
        self.text = "\(scheme)://\(self.authority)"
    }

    /// Whether a page of this origin came from `host`, a request's `Host`: then the page is the server's own. The scheme
    /// isn't compared: behind a proxy that ends TLS, the server doesn't know its own.
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
