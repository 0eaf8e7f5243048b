/// The weekdays of a series.
package struct Weekdays: OptionSet, Hashable, Sendable {
    /// The lowest bit is Monday.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Returns `nil` if the list is empty or contains another word.
    init?(names: [String]) {
        var days: Weekdays = []
        for name in names {
            guard let place = Self.names.firstIndex(of: name) else { return nil }
            days.insert(Weekdays(rawValue: 1 << place))
        }
        guard !days.isEmpty else { return nil }
        self = days
    }

    /// The names in the order of the week.
    package var names: [String] {
        Self.names.enumerated().filter { contains(Weekdays(rawValue: 1 << $0.offset)) }.map(\.element)
    }
}
