import Wire

/// The networks by which an address is counted: only itself for an IPv4 address, and three networks for an IPv6
/// address.
///
/// A host can choose the last 64 bits of its address freely, so the smallest unit is a /64. But providers give larger
/// networks to one customer: a /56 to a home, and a /48 to a company or to anyone with a free tunnel. Each of the
/// 65,536 /64 in a /48 would have its own limits. The larger networks therefore have limits too. These limits are
/// higher, because several people may share such a network.
enum AddressScope: Int, CaseIterable {
    /// An IPv4 address, or an IPv6 network of 64 bits.
    case subscriber
    /// An IPv6 network of 56 bits.
    case home
    /// An IPv6 network of 48 bits.
    case site

    /// The limits of the scope, as a multiple of the limits of one address.
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

    /// Returns the network of this scope that contains an ``IPAddress/subscriber``.
    func network(of address: IPAddress) -> IPAddress {
        switch self {
        case .subscriber: address
        case .home: IPAddress(high: address.high & ~0xFF, low: 0)
        case .site: IPAddress(high: address.high & ~0xFFFF, low: 0)
        }
    }
}
