import Wire

/// The networks that an address is counted by: an IPv4 address by itself, an IPv6 address by three networks.
///
/// A host chooses the last 64 bits of its address freely, so the smallest unit is a /64. But providers give whole
/// networks to one customer: a /56 to a home, a /48 to a company or to anyone with a free tunnel. Its 65,536 /64 would
/// have as many times the limits, so the wider networks have limits too. These are larger, because several people may
/// share them.
enum AddressScope: Int, CaseIterable {
    /// An IPv4 address, or an IPv6 network of 64 bits.
    case subscriber
    /// An IPv6 network of 56 bits.
    case home
    /// An IPv6 network of 48 bits.
    case site

    /// The number of addresses whose limits it has.
    var allowances: Int {
        switch self {
        case .subscriber: 1
        case .home: 2
        case .site: 4
        }
    }

    private static let ofIPv4: [AddressScope] = [.subscriber]
    private static let ofIPv6: [AddressScope] = [.subscriber, .home, .site]

    /// Returns the scopes of an address, the narrowest first.
    static func scopes(of address: IPAddress) -> [AddressScope] {
        address.isIPv4 ? ofIPv4 : ofIPv6
    }

    /// Returns the scope's bits of an ``IPAddress/subscriber``.
    func network(of address: IPAddress) -> IPAddress {
        switch self {
        case .subscriber: address
        case .home: IPAddress(high: address.high & ~0xFF, low: 0)
        case .site: IPAddress(high: address.high & ~0xFFFF, low: 0)
        }
    }
}
