import Domain
import Features
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications

@Suite struct AddressContentionTests {
    @Test("Moving addresses between devices causes no deadlock")
    func wandering() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 8) { database in
            // Slows down the deletion of older addresses, so that other statements run between it and the registration.
            try await database.run(
                "CREATE FUNCTION letsswitch.test_dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ "
                    + "BEGIN PERFORM pg_sleep(0.005); RETURN NULL; END $$")
            try await database.run(
                "CREATE TRIGGER test_dawdle BEFORE DELETE ON core.address FOR EACH STATEMENT "
                    + "EXECUTE FUNCTION letsswitch.test_dawdle()")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        var random = SeededRandom(seed: UInt64(worker))
                        for _ in 0..<50 {
                            let device = DeviceID(stored: "d\(Int.random(in: 0..<4, using: &random))")
                            let address = "a\(Int.random(in: 0..<6, using: &random))"
                            switch Int.random(in: 0..<20, using: &random) {
                            case 0: try await database.addresses.remove(nil, of: device, in: .ntfy)
                            case 1: _ = try await database.erasures.erase(device)
                            default:
                                try await database.addresses.register(address, of: device, in: .ntfy, most: 1)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            // No address is without a device, and no device has too many.
            let most = try await database.run(
                "SELECT coalesce(max(n), 0) AS n FROM (SELECT count(*) AS n FROM core.address GROUP BY device_id) AS own"
            )
            #expect(try most[0].integer("n") <= 1)
            // The client repeats a statement after a deadlock, so only the server's statistics show it. They are
            // complete when the client's sessions have ended.
            await database.client.shutdown()
            let late = PostgresClient(configuration: database.configuration)
            try await eventually("the sessions have ended") {
                try await late.query(Self.others, [], timeout: nil)[0].integer("n") == 0
            }
            #expect(try await late.query(Self.deadlocks, [], timeout: nil)[0].integer("n") == 0)
            await late.shutdown()
        }
    }

    private static let others = PostgresStatement(
        name: "",
        sql: """
            SELECT count(*) AS n FROM pg_stat_activity
            WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
            """)
    private static let deadlocks = PostgresStatement(
        name: "", sql: "SELECT deadlocks AS n FROM pg_stat_database WHERE datname = current_database()")
}
