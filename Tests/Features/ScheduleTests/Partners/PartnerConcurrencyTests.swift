import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import ScheduleTestSupport
import Testing

@testable import Schedule

/// All actions that make and end matches, at the same time over many connections, as with several daemons.
@Suite(.serialized) struct PartnerConcurrencyTests {
    private static let slots = 4
    private static let people = 9

    private static func slot(_ number: Int) -> String { "2026-11-22T09:0\(number % slots):00Z" }

    /// A random action of a user. Refusals are expected.
    private static func act(_ step: Int, _ database: ScheduleDatabase) async throws {
        let device = "d\(Int.random(in: 0..<people))"
        let start = slot(Int.random(in: 0..<slots))
        let task = try await database.run(
            "SELECT id FROM schedule.task WHERE device_id = '\(device)' AND starts_at = '\(start)'"
        ).first?.uuid("id")
        switch (Int.random(in: 0..<15), task) {
        case (12, _): _ = try await database.invite(device, start, "step \(step % 3)")
        case (13, _):
            let token = try await database.run(
                """
                SELECT schedule.invitation_token(id) AS token FROM schedule.task
                WHERE invitation IS NOT NULL ORDER BY random() LIMIT 1
                """
            ).first?.string("token")
            if let token = token.flatMap(InvitationToken.init(_:)) { _ = try await database.accept(device, token) }
        case (14, _):
            try await database.run(
                """
                UPDATE schedule.task SET invites_until = core.clock()
                WHERE device_id = '\(device)' AND invites_until IS NOT NULL
                """)
            for lapsed in try await database.invitations.lapsed() { _ = try await database.invitations.free(lapsed) }
        case (0..<4, let task?): _ = try await database.leave(device, task)
        case (4..<8, let task?): _ = try await database.move(device, task, to: slot(Int.random(in: 0..<slots)))
        case (8, _): _ = try await database.cancel(device, start)
        case (9, _) where step % 4 == 0: _ = try await database.erasures.erase(DeviceID(stored: device))
        default: _ = try await database.register(device, start, "step \(step % 3)")
        }
    }

    private static func actAtOnce(_ database: ScheduleDatabase, beside: @Sendable @escaping () async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<16 {
                group.addTask { for step in 0..<40 { try await act(worker + step, database) } }
            }
            group.addTask(operation: beside)
            try await group.waitForAll()
        }
    }

    @Test("Concurrent registrations and cancellations leave each user in one match or waiting")
    func beforeTheLead() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 17) { database in
            for _ in 0..<4 {
                try await Self.actAtOnce(database) {}
                try await database.checkPairs()
            }
            #expect(try await database.count("schedule.task") > 0)
        }
    }

    @Test("Concurrent changes during leads and starts leave at most one match")
    func whileClaimed() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 20) { database in
            for round in 0..<8 {
                try await Self.actAtOnce(database) {
                    // The leads of some slots pass, then their starts.
                    try await database.setClock("2026-11-22 09:0\(round / 2):\(round % 2 == 0 ? "00" : "30")Z")
                    for _ in 0..<20 { _ = try await database.reminders.claimDue(limit: 3) }
                }
                try await database.checkMatches()
            }
            #expect(try await database.count("reminders.reminder") > 0)
        }
    }
}
