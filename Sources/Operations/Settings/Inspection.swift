/// The commands that show rows of the database, such as `letsswitchd daemons`. They show counts and times, without
/// content.
package enum Inspection: String, Sendable, CaseIterable {
    /// The running daemons.
    case daemons
    /// Rooms of matches that have members.
    case rooms
    /// Reminders that are due within an hour.
    case due
    /// Deliveries that wait for providers.
    case deliveries
    /// The latest question sessions.
    case sessions
    /// The latest conversations.
    case conversations
}
