/// Which migrations a database lacks.
struct MigrationPlan: Equatable {
    let missing: [PostgresMigration]

    /// Throws when the database has a version that this program doesn't know: an older program must not write to it.
    init(known: [PostgresMigration], applied: Set<Int>) throws {
        let versions = Set(known.map(\.version))
        guard versions.count == known.count else {
            throw PostgresError(kind: .invalidParameter, message: "two migrations have the same version")
        }
        if let newer = applied.subtracting(versions).max() {
            throw PostgresError(
                kind: .server(sqlState: "55000"),
                message: """
                    the database's schema has version \(newer), which this program doesn't know (it knows up to \
                    \(versions.max() ?? 0)): run a newer program
                    """)
        }
        missing = known.filter { !applied.contains($0.version) }.sorted { $0.version < $1.version }
    }
}
