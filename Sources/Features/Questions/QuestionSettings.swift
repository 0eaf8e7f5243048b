package import Domain
package import Features

/// The limits of question sessions.
package struct QuestionSettings: SettingValues, Hashable {
    /// The maximum number of sessions of a device.
    package var sessionsPerDevice = 100
    package var questionsPerSession = 10_000
    /// The maximum number of connections in a session.
    package var sessionSize = 5_000
    /// Whether there is a question session for everyone, without keys.
    package var hasOpenSession = false

    package init() {}
}

/// The feature's flags.
extension QuestionSettings {
    package static let settings: [Setting<QuestionSettings>] = [
        .boolean(
            "open-questions", \.hasOpenSession, .schedule,
            "adds a question session that everyone can use: /socket without id, /questions"),
        .integer(
            "session-size", \.sessionSize, in: 2...1_000_000, .limits, "maximum connections in a question session"),
        .integer(
            "max-sessions-per-device", \.sessionsPerDevice, in: 1...1_000_000, .limits,
            "maximum question sessions per device"),
        .integer(
            "max-questions-per-session", \.questionsPerSession, in: 1...10_000_000, .limits,
            "maximum questions per session"),
    ]

    /// The quotas of the feature's tables.
    package static let storage: [Setting<StorageLimits>] = [
        .integer(
            "max-stored-sessions", \.sessions, in: 1...1_000_000_000, .limits, "maximum stored question sessions"),
        .integer("max-stored-questions", \.questions, in: 1...1_000_000_000, .limits, "maximum stored questions"),
        .integer("max-stored-votes", \.votes, in: 1...1_000_000_000, .limits, "maximum stored votes for questions"),
    ]
}
