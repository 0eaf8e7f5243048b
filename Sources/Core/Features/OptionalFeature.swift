/// A feature that a daemon can leave out. The raw value is its name for `--without`.
package enum OptionalFeature: String, Sendable, CaseIterable {
    case questions, conversations, notifications
}
