import Postgres
import TestSupport

/// The slots of a run, and the database's clock, which the run advances from one slot's reminder to the next.
///
/// Only ``start(_:in:)`` lets a slot start. Before that no reminder becomes useless, so every due reminder must arrive.
struct TortureClock: Sendable {
    /// The lead in the daemons' flags.
    private static let lead = 43_200
    private static let slotLength = 60

    /// The first slot in epoch seconds.
    let first: Int

    /// Installs the clock, at least 90 s before the first slot's reminder.
    ///
    /// - Parameter unit: Slots are multiples of this number of seconds.
    static func install(in world: TortureWorld, unit: Int = 1) async throws -> TortureClock {
        let rows = try await world.sql("SELECT ceil(extract(epoch FROM clock_timestamp()))::bigint AS now")
        let first = (try rows[0].integer("now") + lead + 90 + unit - 1) / unit * unit
        for statement in ShiftedClock.install { try await world.sql(statement) }
        return TortureClock(first: first)
    }

    func slot(_ number: Int) -> Int { first + number * Self.slotLength }

    /// Advances the clock to the slot's reminder. The clock never goes back.
    func advance(to number: Int, in world: TortureWorld) async throws {
        try await advance(toEpoch: slot(number) - Self.lead, in: world)
    }

    /// Advances the clock to a second after the slot's start.
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
