import CEmbedded
package import Postgres

/// The tables and database functions of conversations: `SQL/`.
package enum ConversationSchema {
    /// The tables, for the first migration.
    package static let tables = [String(cString: EmbeddedFile.conversations_tables_sql.bytes)]

    package static let scripts = [
        script("conversations", EmbeddedFile.conversations_sql),
        script("messages", EmbeddedFile.messages_sql),
        script("conversation-reading", EmbeddedFile.conversation_reading_sql),
        script("partner-conversations", EmbeddedFile.partner_conversations_sql),
        script("notifications", EmbeddedFile.notifications_sql), script("bridge", EmbeddedFile.bridge_sql),
        script("blocks", EmbeddedFile.blocks_sql),
    ]

    private static func script(_ name: String, _ sql: EmbeddedFile) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: String(cString: sql.bytes))
    }
}
