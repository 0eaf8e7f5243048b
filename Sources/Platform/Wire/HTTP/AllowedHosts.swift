/// The names that a server answers to.
///
/// A page of somebody else's can have its own name lead to any address (DNS rebinding), and then is, to the browser, of one
/// origin with the server there, private or not. What it can't do is ask by another name than its own: so a request for a name
/// that isn't the server's is refused. An address is nobody's name, and needs no list.
package struct AllowedHosts: Sendable, Hashable {
    /// In small letters. Few: each request is compared with all of them.
    private var names: [[UInt8]] = []
    /// Whatever is asked for.
    package private(set) var includesAll = false

    /// Addresses alone.
    package init() {}

    package static let all: AllowedHosts = {
        var hosts = AllowedHosts()
        hosts.includesAll = true
        return hosts
    }()

    /// Adds `example.org`, or, with `*`, every name. `false` when it is neither.
    @discardableResult
    package mutating func insert(_ text: some StringProtocol) -> Bool {
        if text == "*" {
            includesAll = true
            return true
        }
        var name = Array(text.lowercased().utf8)
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        guard (1...255).contains(name.count), name.allSatisfy(Self.isInNames) else { return false }
        let isKnown = names.contains(name) || name.withUnsafeBytes { Self.isAddress($0) }
        if !isKnown { names.append(name) }
        return true
    }

    /// What names consist of (RFC 1123 §2.1), and the underscore that some have nevertheless.
    private static func isInNames(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether a request is for this server. One that says no host (HTTP/1.0) is from no browser. Allocates nothing.
    package func admit(_ head: HTTPRequestHead) -> Bool {
        includesAll || head.withHost { isServed($0) } ?? true
    }

    /// - Parameter authority: `host [ ":" port ]`, valid. The port tells nothing: a proxy may have another.
    private func isServed(_ authority: UnsafeRawBufferPointer) -> Bool {
        guard authority.first != UInt8(ascii: "[") else { return true }
        var end = authority.firstOffset(of: UInt8(ascii: ":")) ?? authority.count
        // The name of the root: `example.org.` is `example.org` (RFC 3986 §3.2.2).
        if end > 0, authority[end - 1] == UInt8(ascii: ".") { end -= 1 }
        let host = authority.part(0..<end)
        return Self.isAddress(host)
            || names.contains { name in name.withUnsafeBytes { host.equalsIgnoringCase($0) } }
    }

    /// IPv4. Digits and dots alone are an address or nothing: no top-level domain is a number (RFC 3696 §2).
    private static func isAddress(_ host: UnsafeRawBufferPointer) -> Bool {
        !host.isEmpty && host.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
    }
}

extension AllowedHosts: CustomStringConvertible {
    /// For the operator.
    package var description: String {
        includesAll ? "*" : names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
    }
}
