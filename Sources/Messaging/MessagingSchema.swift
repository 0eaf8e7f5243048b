package import Postgres

/// The functions of the database that messages need: `SQL/`.
package enum MessagingSchema {
    package static let scripts = [
        script("questions", PackageResources.questions_sql),
        script("question-reading", PackageResources.question_reading_sql),
        script("conversations", PackageResources.conversations_sql),
        script("messages", PackageResources.messages_sql),
        script("conversation-reading", PackageResources.conversation_reading_sql),
        script("partner-conversations", PackageResources.partner_conversations_sql),
        script("notifications", PackageResources.notifications_sql), script("bridge", PackageResources.bridge_sql),
        script("blocks", PackageResources.blocks_sql),
    ]

    private static func script(_ name: String, _ sql: [UInt8]) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: String(decoding: sql, as: UTF8.self))
    }
}
