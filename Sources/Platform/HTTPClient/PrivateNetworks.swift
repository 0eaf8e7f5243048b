package import Wire

/// The networks outside the public internet. If a user supplied the address of a request, the request must not reach
/// these networks.
package enum PrivateNetworks {
    /// IANA's special-purpose addresses that aren't globally reachable (RFC 6890, as of RFC 8190), and multicast.
    private static let networks = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "::/128", "::1/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
        "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap { IPNetwork($0) }

    /// Returns whether an address is in one of the networks. An IPv4 address mapped into IPv6 counts as the IPv4
    /// address. NAT64 and 6to4 addresses also contain IPv4 addresses. All of them count as private. The unused
    /// IPv4-compatible addresses (RFC 4291 §2.5.5.1) count as private too.
    package static func contains(_ address: IPAddress) -> Bool {
        (address.high == 0 && !address.isIPv4) || networks.contains { $0.contains(address) }
    }
}
