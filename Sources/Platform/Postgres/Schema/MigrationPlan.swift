/// The migrations that a database needs. A value, computed from the versions that were applied.
struct MigrationPlan: Equatable {
    let missing: [PostgresMigration]

    /// Throws ``UnusableSchemaError`` if the database has a version that this program doesn't know, because an older
    /// program must not write to it. Also throws if a version has another name here: released migrations never change,
    /// so the database was made by a build before the first release.
    init(of schema: PostgresSchema, applied: [Int: String]) throws {
        let known = Dictionary(grouping: schema.migrations, by: \.version)
        guard known.values.allSatisfy({ $0.count == 1 }) else {
            throw PostgresError(kind: .invalidParameter, message: "two migrations have the same version")
        }
        for (version, name) in applied.sorted(by: { $0.key < $1.key }) {
            if let migration = known[version]?.first, migration.name != name {
                throw UnusableSchemaError(
                    description: """
                        the database was made by a build before 1.0.0, which this program can't read or convert: use another \
                        database or state directory, or delete all of its data with DROP SCHEMA \(schema.name) CASCADE
                        """)
            }
        }
        if let newer = applied.keys.filter({ known[$0] == nil }).max() {
            throw UnusableSchemaError(
                description: """
                    the database's schema has version \(newer), which this program doesn't know (it knows up to \
                    \(known.keys.max() ?? 0)): run a newer program
                    """)
        }
        missing = schema.migrations.filter { applied[$0.version] == nil }.sorted { $0.version < $1.version }
    }
}

/// The action that a database's functions need.
enum FunctionsPlan: Equatable {
    /// The functions are up to date, or they are newer ones that this program can use.
    case keep
    case replace

    /// The functions that a database has.
    struct Stored: Equatable {
        let revision: Int
        let oldestUsable: Int
        let digest: String
    }

    /// Throws ``UnusableSchemaError`` if the database's functions are newer and this program can't use them.
    init(revision: Int, digest: String, stored: Stored?) throws {
        guard let stored else {
            self = .replace
            return
        }
        if stored.revision > revision {
            guard revision >= stored.oldestUsable else {
                throw UnusableSchemaError(
                    description: """
                        the database's functions have revision \(stored.revision), and this program, of revision \
                        \(revision), can't work with them: run a newer program
                        """)
            }
            self = .keep
        } else {
            self = stored.digest == digest ? .keep : .replace
        }
    }
}
