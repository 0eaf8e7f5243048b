/// A program's part of a database: tables from numbered migrations, and the current functions.
package struct PostgresSchema: Sendable {
    /// The PostgreSQL schema in which the migrator keeps the applied versions. An SQL identifier that needs no quotes.
    package let name: String
    /// The PostgreSQL schemas of the tables and functions. If they aren't `name`, the first migration creates them.
    package let schemas: [String]
    package let migrations: [PostgresMigration]
    package let functions: PostgresFunctions

    /// - Parameter schemas: `nil` if everything is in the schema `name`.
    package init(
        name: String, schemas: [String]? = nil, migrations: [PostgresMigration],
        functions: PostgresFunctions = PostgresFunctions()
    ) {
        self.name = name
        self.schemas = schemas ?? [name]
        self.migrations = migrations
        self.functions = functions
    }

    /// Checks that ``PostgresClient/migrate(_:)`` would accept a database. Changes nothing.
    ///
    /// - Parameter limit: The maximum time of each statement.
    /// - Throws: ``UnusableSchemaError``; ``PostgresError`` if the database doesn't answer.
    package func check(_ configuration: PostgresConfiguration, limit: Duration) async throws {
        var configuration = configuration
        configuration.statementTimeout = limit
        try await Migrator(configuration: configuration, schema: self).check()
    }

    /// The changes made by ``PostgresClient/migrate(_:)``.
    package struct Change: Sendable, Hashable {
        /// The versions of the migrations that were applied.
        package var migrations: [Int] = []
        package var replacedFunctions = false

        package init(migrations: [Int] = [], replacedFunctions: Bool = false) {
            self.migrations = migrations
            self.replacedFunctions = replacedFunctions
        }

        package var isEmpty: Bool { migrations.isEmpty && !replacedFunctions }
    }
}

/// A numbered migration of the tables. It never changes after its release.
package struct PostgresMigration: Sendable, Hashable {
    /// The migration's number. Numbers ascend from 1.
    package let version: Int
    package let name: String
    /// One or more statements, which run in one transaction.
    package let sql: String

    package init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}

/// Functions, views and composite types. They contain no data. The program therefore has one definition of each, and
/// replaces all of them in one transaction when their text has changed.
package struct PostgresFunctions: Sendable {
    /// The revision of the functions. It increases with each release that changes them. Older functions never replace
    /// newer ones.
    package let revision: Int
    /// The revision of the oldest programs that can use these functions. A program with an earlier revision refuses to
    /// use a database with these functions.
    package let oldestUsable: Int
    /// The scripts in the order of their execution: a view comes after the functions that it calls.
    package let scripts: [Script]
    /// The names of functions that a migration made. These functions are never dropped.
    package let kept: [String]

    /// The definitions of one topic.
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
