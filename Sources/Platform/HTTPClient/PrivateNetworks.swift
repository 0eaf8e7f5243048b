package import Wire

/// The networks that are not the internet: a request that somebody else has named an address for must not reach them.
package enum PrivateNetworks {
    /// IANA's registries of special-purpose addresses (RFC 6890, as of RFC 8190), those that aren't globally reachable; multicast.
    private static let networks = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "::/128", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
        "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap { IPNetwork($0) }

    /// Of an IPv4 address that is mapped into IPv6, the IPv4 address counts. NAT64 and 6to4, which carry one too, are private
    /// altogether; so are IPv4-compatible addresses (RFC 4291 §2.5.5.1), which nobody uses.
    package static func contains(_ address: IPAddress) -> Bool {
        (address.high == 0 && !address.isIPv4) || networks.contains { $0.contains(address) }
    }
}
