/// The peers that are believed when they say for whom they ask: a site's own proxies.
package struct TrustedNetworks: Sendable, Hashable {
    private var networks: [IPNetwork] = []
    private var includesUnixSockets = false

    /// Nobody.
    package init() {}

    /// This machine: loopback and Unix sockets.
    package static let thisMachine: TrustedNetworks = {
        var networks = TrustedNetworks()
        networks.insert("loopback")
        networks.insert("unix")
        return networks
    }()

    /// Adds `10.0.0.0/8`, `192.0.2.1`, `loopback`, `unix`, or, with `none`, nobody. `false` when it is none of these.
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

    /// - Parameter address: `nil` for the peer of a Unix socket. O(networks); an operator names a few.
    package func contains(_ address: IPAddress?) -> Bool {
        guard let address else { return includesUnixSockets }
        return networks.contains { $0.contains(address) }
    }
}
