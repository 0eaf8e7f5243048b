import Foundation
import Postgres
import TestSupport
import Testing

@testable import LetsSwitch

@Suite struct CancellationRaceTests {
    private static let count = 1000
    /// Seconds over which all of them fall due, one after the other.
    private static let spread = 2.0

    /// Ada's tasks, in the order in which they will be due.
    private func register(in journey: Journey) async throws -> [UUID] {
        let start = try await journey.instant(in: 86_400)
        let store = ScheduleStore(database: journey.client, settings: ScheduleSettings(reminderLead: 60))
        var tasks: [UUID] = []
        for number in 0..<Self.count {
            let request = try ScheduleDatabase.request(
                "ada", "\(Instant(seconds: start.seconds + number))", "T\(number)", zone: "UTC")
            tasks.append(try #require(try await store.register(request).task).id)
        }
        return tasks
    }

    /// Makes the tasks due from a second ahead on, and tells the scheduler: epoch seconds of the first.
    private func makeDue(in journey: Journey) async throws -> Double {
        let first = try await journey.sql(
            """
            WITH numbered AS (
                SELECT id, clock.at + interval '1 s'
                    + (row_number() OVER (ORDER BY starts_at) - 1) * interval '\(Self.spread / Double(Self.count)) s' AS at
                FROM letsswitch.task, (SELECT letsswitch.clock() AS at) AS clock
            ), waiting AS (
                UPDATE letsswitch.due SET reminds_at = numbered.at FROM numbered WHERE due.task_id = numbered.id
            ), planned AS (
                UPDATE letsswitch.task SET reminds_at = numbered.at FROM numbered WHERE task.id = numbered.id
                RETURNING numbered.at
            )
            SELECT extract(epoch FROM min(at))::float8 AS first FROM planned
            """)[0].double("first")
        try await journey.sql("SELECT pg_notify('\(ReminderStore.dueChannel)', '\(first)')")
        return first
    }

    /// Cancels each at about the instant at which it is due: the answers' status.
    private func cancel(_ tasks: [UUID], from first: Double, at endpoint: ClientEndpoint) async throws -> [UUID: Int] {
        let lanes = 8
        return try await withThrowingTaskGroup(of: [UUID: Int].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    let client = try await HTTPTestClient.connect(to: endpoint)
                    var statuses: [UUID: Int] = [:]
                    for number in stride(from: lane, to: tasks.count, by: lanes) {
                        let due = first + Double(number) * Self.spread / Double(Self.count)
                        let wait = due + Double.random(in: -0.006...0.006) - Date().timeIntervalSince1970
                        if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
                        let path = "/task/\(tasks[number].uuidString)?deviceId=ada"
                        statuses[tasks[number]] = try await client.request("DELETE", path).status
                    }
                    await client.close()
                    return statuses
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
        }
    }

    @Test("cancelling races with firing, a thousand times: after a 200 the reminder never comes")
    func thousand() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let stream = try await endpoint.reminders(of: "ada")
            let tasks = try await register(in: journey)
            let first = try await makeDue(in: journey)
            let statuses = try await cancel(tasks, from: first, at: endpoint)
            let cancelled = statuses.values.count { $0 == 200 }
            let kept = Set(statuses.filter { $0.value == 409 }.keys)
            #expect(cancelled + kept.count == Self.count)
            // It was a race.
            #expect(cancelled >= Self.count / 50 && kept.count >= Self.count / 50)
            try await journey.wait(until: "NOT EXISTS (SELECT FROM letsswitch.due)")
            var reminded: [UUID] = []
            while reminded.count < kept.count { reminded.append(try await stream.nextReminder().taskId) }
            #expect(Set(reminded) == kept)
            try await endpoint.expectNoReminder(on: stream, of: "ada", in: journey)
            #expect(try await journey.count("letsswitch.reminder") == kept.count)
        }
    }
}
