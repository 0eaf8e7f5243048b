import FoundationEssentials
import Wire

/// A broker's address and credentials: `amqp://user:password@host:port/virtual-host`, or `amqps://`.
///
/// Missing parts have RabbitMQ's defaults: user and password `guest`, port 5672, or 5671 with TLS, and virtual host
/// `/`. Parts may be percent-encoded, as in RabbitMQ's URI specification: `/%2F` is the virtual host `/`. A path of
/// only `/` also means the virtual host `/` here. In the specification it means a virtual host without a name.
package struct AMQPURL: Sendable, Hashable, CustomStringConvertible {
    package let usesTLS: Bool
    package let user: String
    package let password: String
    package let host: String
    package let port: UInt16
    package let virtualHost: String

    /// - Throws: ``AMQPURLError``, which doesn't contain the text.
    package init(_ text: String) throws(AMQPURLError) {
        var rest = text[...]
        if let tail = rest.dropping(prefix: "amqps://") {
            (usesTLS, rest) = (true, tail)
        } else if let tail = rest.dropping(prefix: "amqp://") {
            (usesTLS, rest) = (false, tail)
        } else {
            throw AMQPURLError(message: "it must begin with amqp:// or amqps://")
        }
        guard !rest.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace }) else {
            throw AMQPURLError(message: "it must not contain ?, # or a space; write them as %3F, %23 and %20")
        }
        var path = Substring()
        if let slash = rest.firstIndex(of: "/") {
            path = rest[rest.index(after: slash)...]
            rest = rest[..<slash]
        }
        var (name, secret): (Substring, Substring) = ("guest", "guest")
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            name = parts[0]
            secret = parts.count > 1 ? parts[1] : ""
            rest = rest[rest.index(after: at)...]
        }
        user = try Self.decoded(name, "the user's name")
        password = try Self.decoded(secret, "the password")
        let lastPart = try Self.decoded(path, "the virtual host")
        virtualHost = lastPart.isEmpty ? "/" : lastPart
        guard virtualHost.utf8.count <= 255 else { throw AMQPURLError(message: "the virtual host's name is too long") }
        (host, port) = try Self.address(rest, usesTLS: usesTLS)
    }

    /// The URL without the password.
    package var description: String {
        let address = host.contains(":") ? "[\(host)]" : host
        return "\(usesTLS ? "amqps" : "amqp")://\(user)@\(address):\(port)/\(virtualHost == "/" ? "" : virtualHost)"
    }

    /// Parses a name, an IPv4 address, or an IPv6 address in brackets, and a port.
    private static func address(_ text: Substring, usesTLS: Bool) throws(AMQPURLError) -> (String, UInt16) {
        var (host, rest) = (text, Substring())
        if let tail = text.dropping(prefix: "[") {
            guard let end = tail.firstIndex(of: "]") else { throw AMQPURLError(message: "a ] is missing") }
            (host, rest) = (tail[..<end], tail[tail.index(after: end)...])
        } else if let colon = text.firstIndex(of: ":") {
            (host, rest) = (text[..<colon], text[colon...])
        }
        let name = try decoded(host, "the host's name")
        guard !name.isEmpty else { throw AMQPURLError(message: "the host is missing") }
        guard !rest.isEmpty else { return (name, usesTLS ? 5671 : 5672) }
        guard let digits = rest.dropping(prefix: ":"), digits.allSatisfy(\.isNumber), let port = UInt16(digits),
            port > 0
        else { throw AMQPURLError(message: "the port must be a number from 1 to 65535") }
        return (name, port)
    }

    private static func decoded(_ text: Substring, _ part: String) throws(AMQPURLError) -> String {
        let bytes = Array(text.utf8)
        switch bytes.withUnsafeBytes({ PercentEncoding.fault(in: $0) }) {
        case nil: return bytes.withUnsafeBytes { PercentEncoding.decode($0) }
        case .targetNotUTF8: throw AMQPURLError(message: "\(part) isn't UTF-8")
        default: throw AMQPURLError(message: "\(part) has a % that isn't followed by two hexadecimal digits")
        }
    }
}

package struct AMQPURLError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String

    package var description: String { message }
}

extension Substring {
    fileprivate func dropping(prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}
