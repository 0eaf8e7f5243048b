/// The names that a server accepts in `Host`.
///
/// A page of another site can make its own name point to any address (DNS rebinding). The browser then treats the
/// server at that address as the page's own origin. But the page can use only its own name, so requests for names that
/// this server doesn't have are refused. IP addresses needn't be listed.
package struct AllowedHosts: Sendable, Hashable {
    /// The names in lowercase. The first label may be an asterisk. There should be few, because each request is
    /// compared with all of them.
    private var names: [[UInt8]] = []
    /// Whether every name is accepted.
    package private(set) var includesAll = false

    /// Accepts only IP addresses.
    package init() {}

    package static let all: AllowedHosts = {
        var hosts = AllowedHosts()
        hosts.includesAll = true
        return hosts
    }()

    /// Adds a name. `example.org` is one name, `*.example.org` stands for all names with one more label, and `*` for
    /// every name. Returns `false` for any other text.
    @discardableResult
    package mutating func insert(_ text: some StringProtocol) -> Bool {
        if text == "*" {
            includesAll = true
            return true
        }
        var name = Array(text.lowercased().utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isWildcard = labels.count > 1 && labels[0].elementsEqual([UInt8(ascii: "*")])
        guard (1...255).contains(name.count),
            labels.dropFirst(isWildcard ? 1 : 0).allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isInLabels) })
        else { return false }
        let isAddress = name.dropFirst(isWildcard ? 2 : 0).withUnsafeBytes { Self.isAddress($0) }
        // An address has no labels, so an asterisk in it makes no sense.
        guard !(isAddress && isWildcard) else { return false }
        let isKnown = names.contains(name) || isAddress
        if !isKnown { names.append(name) }
        return true
    }

    /// The characters of host names (RFC 1123 §2.1), and the underscore, which some names have.
    private static func isInLabels(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether a request is for this server. A request without a host (HTTP/1.0) is accepted, because it doesn't come
    /// from a browser. Allocates nothing.
    package func admit(_ head: HTTPRequestHead) -> Bool {
        includesAll || head.withHost { isServed($0) } ?? true
    }

    /// - Parameter authority: A valid `host [ ":" port ]`. The port is ignored, because a proxy may use a different
    ///   one.
    private func isServed(_ authority: UnsafeRawBufferPointer) -> Bool {
        guard authority.first != UInt8(ascii: "[") else { return true }
        var end = authority.firstOffset(of: UInt8(ascii: ":")) ?? authority.count
        // A name may end with a dot: `example.org.` is the same as `example.org` (RFC 3986 §3.2.2).
        if end > 0, authority[end - 1] == UInt8(ascii: ".") { end -= 1 }
        let host = authority.part(0..<end)
        return Self.isAddress(host)
            || names.contains { name in name.withUnsafeBytes { Self.matches(host, $0) } }
    }

    /// Whether a host has this name. An asterisk stands for exactly one label: `*.example.org` matches neither
    /// `example.org` nor `a.b.example.org`.
    private static func matches(_ host: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) -> Bool {
        guard name.first == UInt8(ascii: "*") else { return host.equalsIgnoringCase(name) }
        guard let dot = host.firstOffset(of: UInt8(ascii: ".")), dot > 0 else { return false }
        return host.part(dot..<host.count).equalsIgnoringCase(name.part(1..<name.count))
    }

    /// Whether a host is an IPv4 address. A text of only digits and dots is never a name, because no top-level domain
    /// is a number (RFC 3696 §2).
    private static func isAddress(_ host: UnsafeRawBufferPointer) -> Bool {
        !host.isEmpty && host.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }
}

extension AllowedHosts: CustomStringConvertible {
    /// The hosts in the form that an operator reads.
    package var description: String {
        includesAll ? "*" : names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
    }
}
