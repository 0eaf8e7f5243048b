import CEmbedded
package import Postgres

/// The database functions of conversations, and the migrations of the feature: `SQL/`. The earlier migrations are in the
/// target `Schema`.
package enum ConversationSchema {
    package static let migrations = [
        PostgresMigration(version: 27, name: "reactions", sql: text(EmbeddedFile.migration_0027_reactions_sql))
    ]

    package static let scripts = [
        script("conversations", EmbeddedFile.conversations_sql),
        script("messages", EmbeddedFile.messages_sql),
        script("reactions", EmbeddedFile.reactions_sql),
        script("conversation-reading", EmbeddedFile.conversation_reading_sql),
        script("partner-conversations", EmbeddedFile.partner_conversations_sql),
        script("notifications", EmbeddedFile.notifications_sql), script("bridge", EmbeddedFile.bridge_sql),
        script("blocks", EmbeddedFile.blocks_sql),
    ]

    private static func script(_ name: String, _ sql: EmbeddedFile) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: text(sql))
    }

    private static func text(_ sql: EmbeddedFile) -> String { String(cString: sql.bytes) }
}
