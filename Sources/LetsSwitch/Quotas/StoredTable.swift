/// The tables that strangers can fill. (What waits to be sent has a bound of its own: a channel's oldest deliveries go.)
package enum StoredTable: String, Sendable, CaseIterable {
    case tasks
    /// Push tokens, browsers' subscriptions, ntfy's topics.
    case addresses
    case calendars

    /// The flag that says how many rows it may have.
    var limit: ProductMetrics.PlaceLimit {
        switch self {
        case .tasks: .storedTasks
        case .addresses: .storedAddresses
        case .calendars: .storedCalendars
        }
    }
}
