import Postgres
import TestSupport

/// The slots of a run and the database's clock, which moves when the run wants it to: from one slot's minute to the next.
/// No task ever starts, so that no reminder becomes useless: each that falls due has to come.
struct TortureClock: Sendable {
    /// As the daemons are told.
    private static let lead = 43_200
    private static let slotLength = 60

    /// The first slot; epoch seconds.
    let first: Int

    /// Puts the clock a minute and a half before the first slot's minute.
    ///
    /// - Parameter unit: Of seconds; the slots are whole ones.
    static func install(in world: TortureWorld, unit: Int = 1) async throws -> TortureClock {
        let rows = try await world.sql("SELECT ceil(extract(epoch FROM clock_timestamp()))::bigint AS now")
        let first = (try rows[0].integer("now") + lead + 90 + unit - 1) / unit * unit
        for statement in ShiftedClock.install { try await world.sql(statement) }
        return TortureClock(first: first)
    }

    func slot(_ number: Int) -> Int { first + number * Self.slotLength }

    /// The minute of the slot begins; it never goes back.
    func advance(to number: Int, in world: TortureWorld) async throws {
        try await advance(toEpoch: slot(number) - Self.lead, in: world)
    }

    /// The slot starts: it is a second past it.
    func start(_ number: Int, in world: TortureWorld) async throws {
        try await advance(toEpoch: slot(number) + 1, in: world)
    }

    private func advance(toEpoch epoch: Int, in world: TortureWorld) async throws {
        try await world.sql(
            """
            WITH moved AS (
                UPDATE letsswitch.test_clock SET shift = greatest(shift, to_timestamp(\(epoch)) - clock_timestamp())
                RETURNING shift
            )
            SELECT pg_notify('letsswitch_due', '0') FROM moved
            """)
    }
}
