package import Postgres

/// The functions of the database that messages need: `SQL/`.
package enum MessagingSchema {
    package static let scripts = [
        PostgresFunctions.Script(
            name: "questions", sql: String(decoding: PackageResources.questions_sql, as: UTF8.self)),
        PostgresFunctions.Script(
            name: "conversations", sql: String(decoding: PackageResources.conversations_sql, as: UTF8.self)),
        PostgresFunctions.Script(
            name: "partner-conversations",
            sql: String(decoding: PackageResources.partner_conversations_sql, as: UTF8.self)),
        PostgresFunctions.Script(
            name: "notifications", sql: String(decoding: PackageResources.notifications_sql, as: UTF8.self)),
        PostgresFunctions.Script(name: "bridge", sql: String(decoding: PackageResources.bridge_sql, as: UTF8.self)),
        PostgresFunctions.Script(name: "blocks", sql: String(decoding: PackageResources.blocks_sql, as: UTF8.self)),
    ]
}
