/// The networks of peers that may name their clients. These are usually an operator's own proxies.
package struct TrustedNetworks: Sendable, Hashable {
    private var networks: [IPNetwork] = []
    private var includesUnixSockets = false

    /// Creates a list without networks. No peer is trusted.
    package init() {}

    /// This machine: the loopback networks and Unix sockets.
    package static let thisMachine: TrustedNetworks = {
        var networks = TrustedNetworks()
        networks.insert("loopback")
        networks.insert("unix")
        return networks
    }()

    /// Adds a network, such as `10.0.0.0/8`, `192.0.2.1`, `loopback` or `unix`. `none` adds nothing. Returns `false`
    /// for any other text.
    @discardableResult
    package mutating func insert(_ text: some StringProtocol) -> Bool {
        switch text {
        case "none": break
        case "unix": includesUnixSockets = true
        case "loopback": networks += ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }
        default:
            guard let network = IPNetwork(text) else { return false }
            networks.append(network)
        }
        return true
    }

    /// - Parameter address: The peer's address, or `nil` for the peer of a Unix socket. O(networks), of which an
    ///   operator names only a few.
    package func contains(_ address: IPAddress?) -> Bool {
        guard let address else { return includesUnixSockets }
        return networks.contains { $0.contains(address) }
    }
}

/// A network in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3), such as `10.0.0.0/8` or `2001:db8::/32`, or a single
/// address.
package struct IPNetwork: Sendable, Hashable {
    private let address: IPAddress
    /// The number of leading bits, out of 128, that addresses in the network share.
    private let prefix: Int

    /// Parses a network. Returns `nil` if the text is invalid, or has bits after the prefix, as in `10.0.0.1/8`: either
    /// the address or the length is then a mistake.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        self.address = address
        let mapped = first.utf8.contains(UInt8(ascii: ":")) ? 0 : 96
        if parts.count > 1 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(ASCII.isDigit),
                let length = Int(parts[1]), mapped + length <= 128
            else { return nil }
            prefix = mapped + length
        } else {
            prefix = 128
        }
        guard Self.masked(address, prefix) == address else { return nil }
    }

    package func contains(_ other: IPAddress) -> Bool {
        Self.masked(other, prefix) == address
    }

    private static func masked(_ address: IPAddress, _ prefix: Int) -> IPAddress {
        // Swift's shift by the whole width gives 0, so a prefix of 0 also works.
        IPAddress(
            high: address.high & ~(UInt64.max >> UInt64(min(prefix, 64))),
            low: address.low & ~(UInt64.max >> UInt64(max(prefix - 64, 0))))
    }
}
