/// What `letsswitchd daemons` and its like show: counts and times, no content.
package enum Inspection: String, Sendable, CaseIterable {
    /// Those that are alive.
    case daemons
    /// Matches' rooms with somebody in them.
    case rooms
    /// What fires within an hour.
    case due
    /// What waits for providers.
    case deliveries
    /// Of questions, the latest.
    case sessions
    /// The latest.
    case conversations
}
