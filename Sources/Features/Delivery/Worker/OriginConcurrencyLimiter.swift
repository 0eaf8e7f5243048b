/// How many of a provider's deliveries may be on their way to one server at once, where anybody may name the server: one that
/// hangs must not take the places of those that answer. A value: time is an argument.
///
/// A window is as TCP's: it begins small, grows by one with each prompt answer, so that it doubles with each round trip, and is
/// halved when one takes long. Servers that haven't shown yet that they answer share a quarter of the places, and another quarter
/// for the first one to each.
struct OriginConcurrencyLimiter {
    private struct Window {
        var size = OriginConcurrencyLimiter.first
        var sending = 0

        /// Its server has shown that it answers.
        var isProven: Bool { size > OriginConcurrencyLimiter.first }
        var unproven: Int { isProven ? 0 : sending }
    }

    /// The first window's size.
    static let first = 8
    /// An answer that takes longer isn't prompt.
    static let prompt = Duration.seconds(2.5)
    /// Servers that are remembered; there are a handful of push services, but anybody may name others.
    private static let most = 1000

    private let places: Int
    private var origins: [String: Window] = [:]
    private var unproven = 0

    /// - Parameter places: For all servers together. One has three quarters of them at most.
    init(places: Int) {
        self.places = places
    }

    /// How many may be in hand, on their way or to go next. Of one that hasn't shown that it answers only what is on its way.
    func share(of origin: String) -> Int {
        let window = origins[origin] ?? Window()
        return window.isProven ? 2 * window.size : window.sending
    }

    /// Whether one more may go there now. `nil`, a server that is a setting, has no window. What isn't urgent has
    /// half of a window.
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
