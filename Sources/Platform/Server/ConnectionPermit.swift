package import Basics
package import Wire

/// A connection's place in the ``AddressLimiter``: its address' count is one lower when nobody holds the permit any more.
///
/// The socket holds it as its ``StreamSocket/companion``, so whatever becomes of the connection (an upgrade, a change of
/// loops, a peer that lingers), it counts exactly as long as its descriptor is open.
package final class ConnectionPermit: Sendable {
    /// The address that is counted.
    package let address: IPAddress
    private let limiter: AddressLimiter
    private let slots: Slots

    /// The table's slot for each ``AddressScope``; `nil` where the table had no place, or the address has no such scope.
    struct Slots: Sendable {
        private var subscriber, home, site: Int32

        init() { (subscriber, home, site) = (-1, -1, -1) }

        subscript(scope: AddressScope) -> Int? {
            get {
                let slot =
                    switch scope {
                    case .subscriber: subscriber
                    case .home: home
                    case .site: site
                    }
                return slot < 0 ? nil : Int(slot)
            }
            set {
                let slot = newValue.map(Int32.init(clamping:)) ?? -1
                switch scope {
                case .subscriber: subscriber = slot
                case .home: home = slot
                case .site: site = slot
                }
            }
        }
    }

    init(of address: IPAddress, in limiter: AddressLimiter, at slots: Slots) {
        self.address = address
        self.limiter = limiter
        self.slots = slots
    }

    deinit {
        limiter.close(slots)
    }

    /// Whether the connection's address may do this `count` times more. The slots are known and can't be anybody else's meanwhile, so
    /// this looks nothing up: it costs some ten nanoseconds, and allocates nothing.
    package func admits(_ action: LimitedAction, times count: Int = 1, at now: MonotonicTime) -> Bool {
        limiter.pay(for: action, times: count, at: slots, now)
    }

    /// See ``Request/wait(for:times:)``.
    package func wait(for action: LimitedAction, times count: Int, at now: MonotonicTime) -> Int? {
        admits(action, times: count, at: now) ? nil : limiter.seconds(for: action, times: count)
    }
}
