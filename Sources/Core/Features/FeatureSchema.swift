package import CEmbedded
package import Domain
package import Postgres

/// A part of the database with a PostgreSQL schema of its own: the tables and functions of a feature, or of what all
/// features share.
package struct FeatureSchema: Sendable {
    /// An SQL function that any schema may define under this name. The program calls the function of each schema that
    /// has one.
    package enum Hook: String, Sendable, CaseIterable {
        /// `(p_device text) RETURNS boolean`: makes everything of a device invisible. Returns whether subscribers of events
        /// may know the device.
        case beginErasing = "begin_erasing"
        /// `(p_device text, p_limit integer) RETURNS boolean`: deletes `p_limit` rows of each kind of an erased device.
        /// Returns whether none are left.
        case eraseRows = "erase_rows"
        /// `(p_device text) RETURNS TABLE (kind text, stored jsonb)`: the stored data of a device, without ids of other
        /// devices and without secrets.
        case exportDevice = "export_device"
        /// `(p_retention double precision, p_limit integer) RETURNS bigint`: deletes rows older than `p_retention` seconds,
        /// `p_limit` of each kind. Returns a number above 0 if more may be left.
        case deleteOld = "delete_old"
        /// `(p_retention double precision, p_limit integer) RETURNS bigint`: deletes what wasn't used for `p_retention`
        /// seconds, otherwise like `delete_old`.
        case deleteUnused = "delete_unused"
    }

    /// The setting that says how long ``Hook/deleteOld`` keeps rows.
    package enum Retention: Sendable {
        case tasks, messages
    }

    /// The name of the PostgreSQL schema.
    package let name: String
    /// The SQL of the tables, a part of the first migration.
    package let tables: String
    package let functions: [PostgresFunctions.Script]
    package let retention: Retention
    /// The tables whose numbers of rows are limited, with their schemas.
    package let limited: [StoredTable: [String]]
    private let hooks: Set<Hook>

    /// - Parameters:
    ///   - tables: Files with the SQL of the tables.
    ///   - functions: Files with functions, views and types, each with a name for error messages.
    package init(
        _ name: String, tables: [EmbeddedFile] = [], functions: [(name: String, file: EmbeddedFile)],
        retention: Retention = .tasks, limited: [StoredTable: [String]] = [:]
    ) {
        self.name = name
        self.tables = tables.map { String(cString: $0.bytes) }.joined(separator: "\n")
        let scripts = functions.map { PostgresFunctions.Script("\(name)/\($0.name)", $0.file) }
        self.functions = scripts
        self.retention = retention
        self.limited = limited
        hooks = Set(
            Hook.allCases.filter { hook in
                scripts.contains { $0.sql.contains("CREATE FUNCTION \(name).\(hook.rawValue)(") }
            })
    }

    /// Returns the name of a hook's function with its schema, if the schema defines it.
    package func function(_ hook: Hook) -> String? {
        hooks.contains(hook) ? "\(name).\(hook.rawValue)" : nil
    }
}

extension FeatureSchema {
    /// What all features share. Every other schema uses it.
    package static let core = FeatureSchema(
        "core",
        tables: [
            EmbeddedFile.core_tables_sql, EmbeddedFile.outbox_tables_sql, EmbeddedFile.attendance_tables_sql,
        ],
        functions: [
            ("locks", EmbeddedFile.locks_sql), ("secrets", EmbeddedFile.secrets_sql),
            ("blocks", EmbeddedFile.blocks_sql),
            ("outbox", EmbeddedFile.outbox_sql), ("attendance", EmbeddedFile.room_members_sql),
            ("erasure", EmbeddedFile.erasure_sql), ("retention", EmbeddedFile.core_retention_sql),
            ("storage", EmbeddedFile.storage_sql), ("export", EmbeddedFile.core_export_sql),
        ],
        limited: [.addresses: ["core.address"], .blocks: ["core.block"]])
}
