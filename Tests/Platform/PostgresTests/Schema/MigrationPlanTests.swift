import Testing

@testable import Postgres

@Suite struct MigrationPlanTests {
    private static func schema(_ versions: Int...) -> PostgresSchema {
        PostgresSchema(
            name: "s", migrations: versions.map { PostgresMigration(version: $0, name: "m\($0)", sql: "SELECT 1") })
    }

    @Test("Missing migrations are applied in the order of their versions")
    func missing() throws {
        let plan = try MigrationPlan(of: Self.schema(3, 1, 2), applied: [1: "m1"])
        #expect(plan.missing.map(\.version) == [2, 3])
        #expect(try MigrationPlan(of: Self.schema(1), applied: [1: "m1"]).missing.isEmpty)
        #expect(try MigrationPlan(of: Self.schema(1, 2), applied: [:]).missing.count == 2)
    }

    @Test("A renamed, unknown or repeated version is refused")
    func refusals() {
        #expect(throws: UnusableSchemaError.self) { try MigrationPlan(of: Self.schema(1), applied: [1: "other"]) }
        #expect(throws: UnusableSchemaError.self) {
            try MigrationPlan(of: Self.schema(1), applied: [1: "m1", 2: "m2"])
        }
        #expect(throws: PostgresError.self) { try MigrationPlan(of: Self.schema(1, 1), applied: [:]) }
    }
}

@Suite struct FunctionsPlanTests {
    private static func plan(_ revision: Int, over stored: (revision: Int, oldest: Int, digest: String)?) throws
        -> FunctionsPlan
    {
        try FunctionsPlan(
            revision: revision, digest: "ours",
            stored: stored.map {
                FunctionsPlan.Stored(revision: $0.revision, oldestUsable: $0.oldest, digest: $0.digest)
            })
    }

    @Test("Missing, older or different functions are replaced")
    func replacement() throws {
        #expect(try Self.plan(3, over: nil) == .replace)
        #expect(try Self.plan(3, over: (2, 1, "theirs")) == .replace)
        #expect(try Self.plan(3, over: (3, 3, "theirs")) == .replace)
        #expect(try Self.plan(3, over: (3, 3, "ours")) == .keep)
    }

    @Test("Newer functions are kept if the program can use them")
    func newer() throws {
        #expect(try Self.plan(3, over: (4, 3, "theirs")) == .keep)
        #expect(throws: UnusableSchemaError.self) { try Self.plan(3, over: (5, 4, "theirs")) }
    }
}
