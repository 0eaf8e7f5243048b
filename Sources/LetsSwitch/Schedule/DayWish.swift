package import Domain

/// The day that a client means.
package enum DayWish: Hashable, Sendable {
    /// The device's own midnight.
    case midnight(Instant)
    /// A date in the zone that the request names.
    case date(CalendarDate)

    /// Reads an instant or a plain date.
    package init?(_ text: String) {
        if let instant = Instant(text) {
            self = .midnight(instant)
        } else if let date = CalendarDate(text) {
            self = .date(date)
        } else {
            return nil
        }
    }
}
