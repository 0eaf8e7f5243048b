import CEmbedded
import Features
import Postgres

/// The database functions of conversations, and the migrations of their tables: `SQL/`. The earlier migrations are in the
/// target `Schema`.
enum ConversationSchema {
    static let migrations = [
        PostgresMigration(
            version: 27, name: "reactions", sql: String(cString: EmbeddedFile.migration_0027_reactions_sql.bytes))
    ]

    static let scripts: [PostgresFunctions.Script] = [
        .init("conversations", EmbeddedFile.conversations_sql),
        .init("messages", EmbeddedFile.messages_sql),
        .init("reactions", EmbeddedFile.reactions_sql),
        .init("conversation-reading", EmbeddedFile.conversation_reading_sql),
        .init("partner-conversations", EmbeddedFile.partner_conversations_sql),
        .init("notifications", EmbeddedFile.notifications_sql),
        .init("bridge", EmbeddedFile.bridge_sql),
        .init("blocks", EmbeddedFile.blocks_sql),
    ]
}
