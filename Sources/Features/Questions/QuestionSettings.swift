/// The limits of sessions. Flags set them: see ``Setting`` in the daemon.
package struct QuestionSettings: Sendable, Hashable {
    /// The maximum number of sessions per device.
    package var sessionsPerDevice = 100
    package var questionsPerSession = 10_000
    /// The maximum number of connections in a session.
    package var sessionSize = 5_000
    /// Whether there is a question session for everyone, without keys.
    package var hasOpenSession = false

    package init() {}
}
