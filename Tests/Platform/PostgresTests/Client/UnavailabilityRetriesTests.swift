import Basics
import Testing

@testable import Postgres

/// How often a statement is repeated whose failure nobody would notice.
@Suite struct UnavailabilityRetriesTests {
    private static let unavailable = PostgresError(kind: .unavailable(outcomeUnknown: true), message: "silent")

    /// Runs work that fails with `error` in its first `failures` attempts.
    ///
    /// - Returns: The number of attempts, and whether the last one succeeded.
    private func attempts(
        failures: Int, with error: any Error = unavailable, until deadline: MonotonicTime? = nil
    ) async -> (count: Int, succeeded: Bool) {
        var count = 0
        do {
            try await UnavailabilityRetries.run(until: deadline) {
                count += 1
                if count <= failures { throw error }
            }
            return (count, true)
        } catch {
            return (count, false)
        }
    }

    @Test("Work is tried at most three times while the database is unavailable")
    func attempts() async {
        #expect(await attempts(failures: 0) == (1, true))
        #expect(await attempts(failures: 2) == (3, true))
        #expect(await attempts(failures: 3) == (3, false))
    }

    @Test("A statement that the server refuses isn't repeated")
    func final() async {
        let refused = PostgresError(kind: .server(sqlState: "22023"), message: "no")
        #expect(await attempts(failures: 1, with: refused) == (1, false))
        #expect(await attempts(failures: 1, with: CancellationError()) == (1, false))
        #expect(await attempts(failures: 1, until: .now()) == (1, false))
    }
}
