/// What a program keeps in a database, in a schema of its own: tables by numbered migrations, and the functions that work on
/// them as they are now.
package struct PostgresSchema: Sendable {
    /// An SQL identifier that needs no quotes.
    package let name: String
    package let migrations: [PostgresMigration]
    package let functions: PostgresFunctions

    package init(name: String, migrations: [PostgresMigration], functions: PostgresFunctions = PostgresFunctions()) {
        self.name = name
        self.migrations = migrations
        self.functions = functions
    }

    /// What ``PostgresClient/migrate(_:)`` has changed.
    package struct Change: Sendable, Hashable {
        /// The versions of the migrations applied now.
        package var migrations: [Int] = []
        package var replacedFunctions = false

        package init(migrations: [Int] = [], replacedFunctions: Bool = false) {
            self.migrations = migrations
            self.replacedFunctions = replacedFunctions
        }

        package var isEmpty: Bool { migrations.isEmpty && !replacedFunctions }
    }
}

/// One numbered step of the tables. Once released it never changes.
package struct PostgresMigration: Sendable, Hashable {
    /// From 1 on, ascending.
    package let version: Int
    package let name: String
    /// One or more statements, run in one transaction.
    package let sql: String

    package init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}

/// Functions, views and composite types: they hold nothing, so that one definition of each stands in the program, and all are
/// made anew in one transaction whenever their text has changed.
package struct PostgresFunctions: Sendable {
    /// Grows with each release that changes them. Never are older ones put in place of newer.
    package let revision: Int
    /// Programs with functions older than this revision can't work with these.
    package let oldestUsable: Int
    /// In the order in which they are applied: a view after what it calls.
    package let scripts: [Script]
    /// Functions of the schema that a migration has made, and that stay.
    package let kept: [String]

    /// Definitions by theme.
    package struct Script: Sendable, Hashable {
        package let name: String
        package let sql: String

        package init(name: String, sql: String) {
            self.name = name
            self.sql = sql
        }
    }

    package init(revision: Int = 0, oldestUsable: Int = 0, scripts: [Script] = [], kept: [String] = []) {
        self.revision = revision
        self.oldestUsable = oldestUsable
        self.scripts = scripts
        self.kept = kept
    }

    var text: String { scripts.map(\.sql).joined(separator: "\n") }
}
