import Domain
import Foundation
import JourneyTestSupport
import Postgres
import ScheduleTestSupport
import Settings
import TestSupport
import Testing

@testable import Schedule

@Suite struct SchedulerLoadTests {
    /// Registers both devices of each match in one slot, directly in the database.
    private func register(_ matches: Int, at start: Instant, lead: Double, in journey: Journey) async throws {
        let store = ScheduleStore(database: journey.client, settings: ScheduleSettings(reminderLead: lead))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<8 {
                group.addTask {
                    for number in stride(from: lane, to: 2 * matches, by: 8) {
                        let request = try ScheduleDatabase.request("d\(number)", "\(start)", "T\(number)", zone: "UTC")
                        guard try await store.register(request).isCreated else {
                            throw ClientFailure.violation("device \(number) is not registered")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("With a thousand matches due at once, each device is reminded once")
    func thousand() async throws {
        try await Journey.run(clock: .running) { journey in
            let matches = 1000
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 7200)
            try await register(matches, at: start, lead: 60, in: journey)
            // Every twentieth device has a stream: enough to send many reminders in one moment, few enough to read them
            // all.
            let listening = stride(from: 0, to: 2 * matches, by: 20).map { "d\($0)" }
            let streams = try await withThrowingTaskGroup(of: EventStreamTestClient.self) { group in
                for device in listening { group.addTask { try await endpoint.reminders(of: device) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // Advances to 1.5 s before the reminder, so that only the scheduler's own timer wakes it.
            try await journey.advance(to: start, -61.5)
            let reminders = try await withThrowingTaskGroup(of: ReceivedReminder.self) { group in
                for stream in streams { group.addTask { try await stream.nextReminder() } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(reminders.map(\.title)) == Set(listening.map { "T" + $0.dropFirst() }))
            #expect(Set(reminders.compactMap(\.roomId)).count <= matches)
            #expect(reminders.allSatisfy { $0.roomId != nil && $0.partnerTask != nil })
            try await journey.wait(
                until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = \(listening.count)")

            let metrics = try await MetricsReading.wait(at: endpoint) {
                $0["letsswitch_reminder_lateness_seconds_count"] >= Double(2 * matches)
                    && $0[#"letsswitch_reminders_total{outcome="delivered"}"#] >= Double(listening.count)
            }
            #expect(metrics[#"letsswitch_reminders_total{outcome="fired"}"#] == Double(2 * matches))
            #expect(metrics[#"letsswitch_reminders_total{outcome="delivered"}"#] == Double(listening.count))
            #expect(metrics["letsswitch_rooms_open"] == Double(matches))
            #expect(metrics["letsswitch_reminder_lateness_seconds_count"] == Double(2 * matches))
            #expect(metrics["letsswitch_reminder_delivery_lateness_seconds_count"] == Double(listening.count))
            let rows = try await journey.sql(
                """
                SELECT count(*) AS n, count(DISTINCT task_id) AS tasks, count(DISTINCT room_id) AS rooms,
                    min(extract(epoch FROM claimed_at - reminds_at))::float8 AS earliest
                FROM reminders.reminder JOIN schedule.task ON task.id = task_id
                """)
            #expect(try rows[0].integer("n") == 2 * matches)
            #expect(try rows[0].integer("tasks") == 2 * matches)
            #expect(try rows[0].integer("rooms") == matches)
            #expect(try rows[0].double("earliest") >= 0)
            // No stream receives a second reminder. It would arrive before this change.
            let other = try await journey.instant(in: 7200)
            try await endpoint.register("somebody", other)
            for stream in streams {
                var event = try await stream.nextEvent()
                while event.event == "schedule", try event.json()["startsAt"].string != "\(other)" {
                    event = try await stream.nextEvent()
                }
                #expect(event.event == "schedule")
            }
        }
    }
}
