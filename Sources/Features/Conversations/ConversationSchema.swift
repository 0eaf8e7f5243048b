import CEmbedded
import Features
import Postgres

/// The tables and database functions of conversations: `SQL/`.
enum ConversationSchema {
    static let tables = String(cString: EmbeddedFile.conversations_tables_sql.bytes)

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
