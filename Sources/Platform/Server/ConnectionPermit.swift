package import Basics
package import Wire

/// One connection in the counts of the ``AddressLimiter``. When the permit is freed, the connection isn't counted any
/// more.
///
/// The socket holds the permit as its ``StreamSocket/companion``. The connection therefore counts exactly as long as
/// its descriptor is open, even after an upgrade, a move to another loop, or while it lingers.
package final class ConnectionPermit: Sendable {
    /// The counted address.
    package let address: IPAddress
    /// The address as the requester of the tasks that work for this client.
    package let requester: Requester
    private let limiter: AddressLimiter
    private let entries: Entries

    /// The index of the entry in the limiter's table, for each ``AddressScope``. An index is `nil` if the table had no
    /// space, or if the address doesn't have this scope.
    struct Entries: Sendable {
        private var subscriber, home, site: Int32

        init() { (subscriber, home, site) = (-1, -1, -1) }

        subscript(scope: AddressScope) -> Int? {
            get {
                let entry =
                    switch scope {
                    case .subscriber: subscriber
                    case .home: home
                    case .site: site
                    }
                return entry < 0 ? nil : Int(entry)
            }
            set {
                let entry = newValue.map(Int32.init(clamping:)) ?? -1
                switch scope {
                case .subscriber: subscriber = entry
                case .home: home = entry
                case .site: site = entry
                }
            }
        }
    }

    init(of address: IPAddress, in limiter: AddressLimiter, at entries: Entries) {
        self.address = address
        requester = Requester(address)
        self.limiter = limiter
        self.entries = entries
    }

    deinit {
        limiter.close(entries)
    }

    /// The widest network that limits count for the address: an IPv4 address, or an IPv6 network of 48 bits.
    var network: IPAddress {
        AddressScope.scopes(of: address).last?.network(of: address) ?? address
    }

    /// Charges the action `count` times, and returns whether the limits of the address permit it. The entries are
    /// already known and reserved, so a call takes about ten nanoseconds and allocates nothing.
    package func admits(_ action: LimitedAction, times count: Int = 1, at now: MonotonicTime) -> Bool {
        limiter.pay(for: action, times: count, at: entries, now)
    }

    /// Returns a charge, see ``Request/giveBack(_:times:)``.
    func giveBack(_ action: LimitedAction, times count: Int) {
        limiter.giveBack(action, times: count, at: entries)
    }

    /// Charges an action, see ``Request/wait(for:times:)``.
    package func wait(for action: LimitedAction, times count: Int, at now: MonotonicTime) -> Int? {
        admits(action, times: count, at: now) ? nil : limiter.seconds(for: action, times: count)
    }
}

extension Requester {
    /// - Parameter address: An ``IPAddress/subscriber``.
    package init(_ address: IPAddress) {
        self.init(
            networks: AddressScope.scopes(of: address).map {
                let network = $0.network(of: address)
                return UInt128(network.high) << 64 | UInt128(network.low)
            })
    }
}
