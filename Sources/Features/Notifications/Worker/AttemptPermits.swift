/// Limits a provider's attempts in flight, in total and per server. A value type.
struct AttemptPermits {
    private var all: AttemptLimiter
    private var origins: OriginConcurrencyLimiter

    /// - Parameter count: The maximum number of attempts in flight.
    init(count: Int) {
        all = AttemptLimiter(count: count)
        origins = OriginConcurrencyLimiter(places: count)
    }

    /// Whether any attempt may begin now.
    var areLeft: Bool { all.taken < all.count }

    /// Returns whether the delivery may be sent now.
    ///
    /// - Parameter origin: The delivery's server. `nil` if the server is a setting.
    func admits(_ delivery: Delivery, to origin: String?) -> Bool {
        all.admits(isUrgent: delivery.isUrgent) && origins.admits(origin, isUrgent: delivery.isUrgent)
    }

    mutating func begin(_ delivery: Delivery, to origin: String?) {
        all.begin(isUrgent: delivery.isUrgent)
        origins.begin(origin)
    }

    mutating func end(_ delivery: Delivery, to origin: String?, after time: Duration) {
        all.end(isUrgent: delivery.isUrgent)
        origins.end(origin, after: time)
    }

    /// See ``OriginConcurrencyLimiter/share(of:)``.
    func share(of origin: String) -> Int { origins.share(of: origin) }
}
