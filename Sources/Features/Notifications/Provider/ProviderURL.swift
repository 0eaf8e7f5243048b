/// An absolute URL of a setting or a subscription. Supports only what these need of RFC 3986 §3.
package struct ProviderURL: Sendable, Hashable {
    package static let maximumBytes = 2048

    /// `http` or `https`.
    package let scheme: String
    /// The host in lowercase. An IPv6 address has brackets.
    package let host: String
    /// The port. `nil` for the scheme's default.
    package let port: Int?
    package let hasCredentials: Bool

    /// Returns `nil` for other text: another scheme, no host, or invalid characters.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count <= Self.maximumBytes, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.contains(where: { "\"<>\\^`{|}".contains($0) }),
            let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://")
        else { return nil }
        scheme = text[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let authority = text[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let at = authority.lastIndex(of: "@")
        hasCredentials = at != nil
        let place = at.map { authority[authority.index(after: $0)...] } ?? authority
        let end =
            place.hasPrefix("[") ? place.firstIndex(of: "]").map { place.index(after: $0) } : place.firstIndex(of: ":")
        let host = place[..<(end ?? place.endIndex)]
        guard !host.isEmpty, host != "[]", !place.hasPrefix("[") || end != nil else { return nil }
        self.host = host.lowercased()
        let rest = place[(end ?? place.endIndex)...]
        if rest.isEmpty {
            port = nil
        } else {
            guard rest.hasPrefix(":"), rest.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(rest.dropFirst()), (1...65_535).contains(number)
            else { return nil }
            port = number
        }
    }

    /// The scheme, host and port in the format of browsers, without the default port.
    package var origin: String {
        let own = scheme == "https" ? 443 : 80
        guard let port, port != own else { return "\(scheme)://\(host)" }
        return "\(scheme)://\(host):\(port)"
    }
}
