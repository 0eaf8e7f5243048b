/// Limits a provider's deliveries in flight per server, if users choose the server, so that one that hangs doesn't
/// block those that answer. A value: time is an argument.
///
/// A window works like TCP's: it starts small, grows by one with each prompt answer, so that it doubles with each round
/// trip, and is halved by a slow answer. Servers that haven't answered yet share a quarter of the places, and another
/// quarter is for the first delivery to each.
struct OriginConcurrencyLimiter {
    private struct Window {
        var size = OriginConcurrencyLimiter.first
        var sending = 0

        /// Whether its server has answered.
        var isProven: Bool { size > OriginConcurrencyLimiter.first }
        var unproven: Int { isProven ? 0 : sending }
    }

    /// The size of the first window.
    static let first = 8
    /// The maximum duration of a prompt answer.
    static let prompt = Duration.seconds(2.5)
    /// The maximum number of remembered servers. There are only a few push services, but users may name others.
    private static let most = 1000

    private let places: Int
    private var origins: [String: Window] = [:]
    private var unproven = 0

    /// - Parameter places: For all servers together. One may have at most three quarters.
    init(places: Int) {
        self.places = places
    }

    /// Returns the maximum number of leased deliveries for a server, in flight or next. For a server that hasn't
    /// answered only those in flight.
    func share(of origin: String) -> Int {
        let window = origins[origin] ?? Window()
        return window.isProven ? 2 * window.size : window.sending
    }

    /// Whether one more delivery may be sent to a server now. `nil`, a server that is a setting, has no window.
    /// Deliveries that aren't urgent may use half of a window.
    func admits(_ origin: String?, isUrgent: Bool = true) -> Bool {
        guard let origin else { return true }
        let window = origins[origin] ?? Window()
        let size = min(window.size, max(1, places * 3 / 4))
        guard window.sending < (isUrgent ? size : AttemptLimiter.forOthers(of: size)) else { return false }
        return window.isProven || unproven < max(1, window.sending == 0 ? places / 2 : places / 4)
    }

    mutating func begin(_ origin: String?) {
        change(origin) { $0.sending += 1 }
    }

    mutating func end(_ origin: String?, after time: Duration) {
        change(origin) { [places] window in
            window.sending -= 1
            window.size = time < Self.prompt ? min(window.size + 1, places) : max(1, window.size / 2)
        }
    }

    private mutating func change(_ origin: String?, _ body: (inout Window) -> Void) {
        guard let origin else { return }
        if origins.count >= Self.most, origins[origin] == nil {
            origins = origins.filter { $0.value.sending > 0 || $0.value.isProven }
            if origins.count >= Self.most { origins = origins.filter { $0.value.sending > 0 } }
        }
        var window = origins[origin] ?? Window()
        unproven -= window.unproven
        body(&window)
        unproven += window.unproven
        origins[origin] = window
    }
}
