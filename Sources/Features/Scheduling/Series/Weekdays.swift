/// Days of a week, on which a series is.
package struct Weekdays: OptionSet, Hashable, Sendable {
    /// Monday's bit is the lowest.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Nil when one of them is no day's name, or there is none.
    init?(names: [String]) {
        var days: Weekdays = []
        for name in names {
            guard let place = Self.names.firstIndex(of: name) else { return nil }
            days.insert(Weekdays(rawValue: 1 << place))
        }
        guard !days.isEmpty else { return nil }
        self = days
    }

    /// In the week's order.
    package var names: [String] {
        Self.names.enumerated().filter { contains(Weekdays(rawValue: 1 << $0.offset)) }.map(\.element)
    }
}
