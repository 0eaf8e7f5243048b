package import Domain
package import Features

/// The limits of conversations and their retention.
package struct ConversationSettings: SettingValues, Hashable {
    /// The maximum number of groups that a device creates in 30 days without an answer. `conversations.has_unanswered`
    /// contains the same number.
    static let unanswered = 50

    /// The maximum number of a device's conversations that it has created or has written in. The same maximum applies
    /// to conversations that the device hasn't answered.
    package var perDevice = 1_000
    /// The age after which messages are deleted.
    package var retention: Duration = .seconds(365 * 86_400)

    package init() {}

    /// Returns the refusal for the code of an SQL function.
    func refusal(_ code: String) throws -> RequestError {
        switch code {
        case "conversations_full": .storageFull(.conversations)
        case "messages_full": .storageFull(.messages)
        case "too_many_conversations":
            RequestError(
                status: 429, code: code,
                reason: """
                    The device is already in \(perDevice) conversations that it made or answered, the maximum. Leave one first.
                    """,
                quota: .conversationsPerDevice)
        case "too_many_unanswered":
            RequestError(
                status: 429, code: "too_many_conversations",
                reason: """
                    Nobody has answered in \(Self.unanswered) groups that the device made in the last 30 days, the maximum.
                    """,
                quota: .conversationsPerDevice)
        default: try .conversationRefused(code)
        }
    }
}

/// The feature's flags.
extension ConversationSettings {
    package static let settings: [Setting<ConversationSettings>] = [
        .duration(
            "history-retention", \.retention, in: .seconds(60) ... .seconds(3_650 * 86_400), .schedule,
            "how long messages of conversations are kept"),
        .integer(
            "max-conversations-per-device", \.perDevice, in: 1...10_000, .limits,
            "maximum conversations per device, counting those that it has made or answered"),
    ]

    /// The quotas of the feature's tables.
    package static let storage: [Setting<StorageLimits>] = [
        .integer("max-stored-users", \.users, in: 1...1_000_000_000, .limits, "maximum stored names in conversations"),
        .integer(
            "max-stored-conversations", \.conversations, in: 1...1_000_000_000, .limits,
            "maximum stored conversations"),
        .integer(
            "max-stored-messages", \.messages, in: 1...10_000_000_000, .limits,
            "maximum stored messages of conversations"),
        .integer("max-stored-blocks", \.blocks, in: 1...1_000_000_000, .limits, "maximum stored blocks"),
    ]
}
