/// Limits a provider's deliveries in flight per server, if users choose the servers. A server that hangs must not block
/// the others. A value type: time is an argument.
///
/// Each server has a window that works like TCP's. The window starts small and grows by one with each prompt answer, so
/// it doubles with each round trip. A slow answer halves it. Servers that haven't answered yet share a quarter of the
/// places. Another quarter is for the first delivery to each server.
struct OriginConcurrencyLimiter {
    private struct Window {
        var size = OriginConcurrencyLimiter.first
        var sending = 0

        /// Whether the server has answered promptly, so that its window has grown.
        var isProven: Bool { size > OriginConcurrencyLimiter.first }
        var unproven: Int { isProven ? 0 : sending }
    }

    /// The size of a new window.
    static let first = 8
    /// The maximum duration of a prompt answer.
    static let prompt = Duration.seconds(2.5)
    /// The maximum number of remembered servers. There are only a few push services, but users may name others.
    private static let most = 1000

    private let places: Int
    private var origins: [String: Window] = [:]
    private var unproven = 0

    /// - Parameter places: The maximum number of deliveries in flight to all servers. One server may use three quarters
    ///   of them.
    init(places: Int) {
        self.places = places
    }

    /// Returns the maximum number of leased deliveries for a server. For a server that hasn't answered yet, this is the
    /// number in flight.
    func share(of origin: String) -> Int {
        let window = origins[origin] ?? Window()
        return window.isProven ? 2 * window.size : window.sending
    }

    /// Returns whether one more delivery may be sent to a server now. Deliveries that aren't urgent may use half of a
    /// window.
    ///
    /// - Parameter origin: The server. `nil` if the server is a setting, which has no window.
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
