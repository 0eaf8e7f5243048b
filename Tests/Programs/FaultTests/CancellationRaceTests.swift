import Domain
import Foundation
import JourneyTestSupport
import Postgres
import ScheduleTestSupport
import Settings
import TestSupport
import Testing

@testable import Reminders
@testable import Schedule

@Suite struct CancellationRaceTests {
    private static let count = 1000

    /// Registers tasks of Ada's that are far in the future.
    private func register(in journey: Journey) async throws -> [UUID] {
        let start = try await journey.instant(in: 86_400)
        let store = ScheduleStore(
            database: journey.client, settings: ScheduleSettings(reminderLead: 60, maxTasksPerDevice: 2 * Self.count))
        var tasks: [UUID] = []
        for number in 0..<Self.count {
            let request = try ScheduleDatabase.request(
                "ada", "\(Instant(seconds: start.seconds + number))", "T\(number)", zone: "UTC")
            tasks.append(try #require(try await store.register(request).task).id)
        }
        return tasks
    }

    /// Makes the task due in `milliseconds`, and notifies the scheduler.
    private func makeDue(_ task: UUID, in milliseconds: Double, _ journey: Journey) async throws {
        try await journey.sql(
            """
            WITH waiting AS (
                UPDATE schedule.due SET reminds_at = core.clock() + interval '\(milliseconds) ms'
                FROM schedule.task
                WHERE task.id = '\(task)' AND due.reminds_at = task.reminds_at AND due.registered = task.registered
                RETURNING task.id, due.reminds_at
            ), planned AS (
                UPDATE schedule.task SET reminds_at = waiting.reminds_at FROM waiting WHERE task.id = waiting.id
                RETURNING task.reminds_at
            )
            SELECT pg_notify('\(ReminderStore.dueChannel)', extract(epoch FROM reminds_at)::text) FROM planned
            """)
    }

    /// Makes one task after the other due, and cancels each at about that instant. Returns the statuses of the answers.
    private func cancel(
        _ tasks: [UUID], at endpoint: ClientEndpoint, _ journey: Journey
    ) async throws -> [UUID: Int] {
        let lanes = 8
        return try await withThrowingTaskGroup(of: [UUID: Int].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    let client = try await HTTPTestClient.connect(to: endpoint)
                    var statuses: [UUID: Int] = [:]
                    // The winner gets a smaller head start next time, so that races occur on any machine.
                    var start = 3.0
                    for task in stride(from: lane, to: tasks.count, by: lanes).map({ tasks[$0] }) {
                        try await makeDue(task, in: start * Double.random(in: 0.5...1.5), journey)
                        let path = "/task/\(task.uuidString)?deviceId=ada"
                        let status = try await client.request("DELETE", path).status
                        statuses[task] = status
                        start = min(max(0.05, start * (status == 200 ? 0.8 : 1.25)), 2000)
                    }
                    await client.close()
                    return statuses
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
        }
    }

    @Test("In a thousand races between a cancellation and its reminder, no reminder follows a 200")
    func thousand() async throws {
        try await Journey.run(clock: .running) { journey in
            let endpoint = try await journey.daemon { $0.schedule.maxTasksPerDevice = 2 * Self.count }
            let stream = try await endpoint.reminders(of: "ada")
            let tasks = try await register(in: journey)
            let statuses = try await cancel(tasks, at: endpoint, journey)
            let cancelled = statuses.values.count { $0 == 200 }
            let kept = Set(statuses.filter { $0.value == 409 }.keys)
            #expect(cancelled + kept.count == Self.count)
            // Both outcomes were frequent, so there was a race.
            #expect(cancelled >= Self.count / 10 && kept.count >= Self.count / 10)
            try await journey.wait(until: "NOT EXISTS (SELECT FROM schedule.due)")
            var reminded: [UUID] = []
            while reminded.count < kept.count { reminded.append(try await stream.nextReminder().taskId) }
            #expect(Set(reminded) == kept)
            try await endpoint.expectNoReminder(on: stream, of: "ada", in: journey)
            #expect(try await journey.count("reminders.reminder") == kept.count)
        }
    }
}
