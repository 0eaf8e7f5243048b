import CEmbedded
import Domain
import Features

/// The tables and database functions of conversations: `SQL/`.
enum ConversationSchema {
    static let schema = FeatureSchema(
        "conversations",
        tables: [EmbeddedFile.conversations_tables_sql],
        functions: [
            ("conversations", EmbeddedFile.conversations_sql),
            ("messages", EmbeddedFile.messages_sql),
            ("reactions", EmbeddedFile.reactions_sql),
            ("conversation-reading", EmbeddedFile.conversation_reading_sql),
            ("partner-conversations", EmbeddedFile.partner_conversations_sql),
            ("notifications", EmbeddedFile.notifications_sql),
            ("bridge", EmbeddedFile.bridge_sql),
            ("block-users", EmbeddedFile.block_users_sql),
            ("erasure", EmbeddedFile.conversations_erasure_sql),
            ("retention", EmbeddedFile.conversations_retention_sql),
            ("export", EmbeddedFile.conversations_export_sql),
        ],
        retention: .messages,
        limited: [
            .users: ["conversations.chat_user", "conversations.retired_name"],
            .conversations: ["conversations.conversation"], .messages: ["conversations.message"],
        ])
}
