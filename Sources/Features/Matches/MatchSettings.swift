package import Features

/// The settings of matches' rooms.
package struct MatchSettings: SettingValues, Hashable {
    /// The maximum number of connections in a match's room.
    package var roomSize = 1_000
    /// Whether any UUID is an open room at any time. For development, load tests, and use without the scheduler.
    package var openRooms = false

    package init() {}
}

/// The feature's flags.
extension MatchSettings {
    package static let settings: [Setting<MatchSettings>] = [
        .boolean("open-rooms", \.openRooms, .schedule, "any UUID is a room at any time (for development and tests)"),
        .integer("room-size", \.roomSize, in: 2...1_000_000, .limits, "maximum connections in a room"),
    ]
}
