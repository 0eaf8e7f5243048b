package import Features

/// The limits of reminder streams.
package struct ReminderSettings: SettingValues, Hashable {
    /// The maximum number of reminder streams of one device. Further streams are refused with `429`.
    package var maxStreamsPerDevice = 16

    package init() {}
}

/// The feature's flags.
extension ReminderSettings {
    package static let settings: [Setting<ReminderSettings>] = [
        .integer(
            "max-streams-per-device", \.maxStreamsPerDevice, in: 1...10_000, .limits,
            "maximum reminder streams per device")
    ]
}
