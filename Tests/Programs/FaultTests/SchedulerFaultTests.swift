import Domain
import Foundation
import JourneyTestSupport
import Postgres
import ScheduleTestSupport
import Settings
import TestSupport
import Testing

@testable import Schedule

/// One of the scheduler's statements fails, hangs, or loses its answer. Reminders are still sent.
@Suite struct SchedulerFaultTests {
    /// The fault of a database function.
    enum FunctionFault: String {
        case fails = "RAISE 'sabotage'"
        case hangs = "PERFORM pg_sleep(3600)"
    }

    /// Makes the function begin with `fault`. Returns the SQL that undoes it.
    private func inject(_ fault: FunctionFault, into function: String, in journey: Journey) async throws
        -> String
    {
        let rows = try await journey.sql(
            "SELECT pg_get_functiondef('\(function)'::regproc) AS text")
        let text = try rows[0].string("text")
        let broken = text.replacing("\nBEGIN\n", with: "\nBEGIN\n    \(fault.rawValue);\n")
        try #require(broken != text)
        try await journey.sql(broken)
        return text
    }

    @Test(
        "Reminders are on time while the query for missed reminders fails or hangs",
        arguments: [
            ("reminders.reminders_of", FunctionFault.fails), ("reminders.reminders_of", .hangs),
            ("reminders.open_rooms", .fails),
            ("reminders.claim_results", .hangs),
            ("reminders.expire_reminders", .hangs), ("reminders.delete_old", .fails),
        ])
    func catchingUp(function: String, kind: FunctionFault) async throws {
        try await Journey.run(timeouts: .documented) { journey in
            let endpoint = try await journey.daemon { $0.database = .url(journey.faultyConninfo) }
            let streams = try await ["ada", "bob", "cleo"].asyncMap { try await endpoint.reminders(of: $0) }
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("bob", start)
            _ = try await inject(kind, into: function, in: journey)
            _ = try await journey.terminateConnections()
            try await eventually("a task taken") {
                try await endpoint.post("/task", ClientEndpoint.task("ada", start, "History")).status == 201
            }
            try await journey.advance(to: start, -60)
            for stream in streams.prefix(2) { #expect(try await stream.nextReminder().startsAt == start.date) }
            // The next reminder comes too, although there was nothing to catch up with.
            let next = Instant(seconds: start.seconds + 600)
            try await endpoint.register("cleo", next)
            try await journey.advance(to: next, -60)
            #expect(try await streams[2].nextReminder().startsAt == next.date)
            #expect(try await endpoint.get("/readyz").status == 200)
        }
    }

    @Test("A daemon that can't claim isn't ready")
    func readiness() async throws {
        try await Journey.run(clock: .running) { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let ada = try await endpoint.reminders(of: "ada")
            try await endpoint.register("ada", start)
            let works = try await inject(.fails, into: "reminders.publish_batch", in: journey)
            try await journey.advance(to: start, -60)
            // A busy machine may say first that the database doesn't answer.
            try await eventually("no readiness, for the reminders") {
                let answer = try await endpoint.get("/readyz")
                return try answer.status == 503
                    && answer.json()["reason"].string?.hasPrefix("Reminders are late") == true
            }
            let answer = try await endpoint.get("/readyz").json()
            #expect(answer["database"] == true && answer["migrated"] == true && answer["ready"] == false)
            let failures = try await MetricsReading(endpoint)[#"letsswitch_scheduler_failures_total{job="claim"}"#]
            #expect(failures > 0)
            try await journey.sql(works)
            #expect(try await ada.nextReminder().title == "History")
            try await eventually("readiness") { try await endpoint.get("/readyz").status == 200 }
        }
    }

    @Test("A daemon that can't claim refuses only new tasks")
    func registrations() async throws {
        try await Journey.run(clock: .running) { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let later = Instant(seconds: start.seconds + 86_400)
            let ada = try await endpoint.reminders(of: "ada")
            try await endpoint.register("ada", start)
            let moving = try await endpoint.register("bob", later)
            let inviting: TestJSON = [
                "deviceId": "cleo", "startsAt": "\(later)", "title": "Maths", "timeZone": "UTC", "invite": true,
            ]
            let link = try await endpoint.post("/task", inviting).json()["invitation"].string ?? ""
            let token = try #require(link.split(separator: "/").last)
            let requests: [(target: String, body: TestJSON)] = [
                ("/task", ClientEndpoint.task("dan", later, "Art")),
                (
                    "/task/\(moving.id.uuidString)/move",
                    ["deviceId": "bob", "startsAt": "\(Instant(seconds: later.seconds + 60))", "timeZone": "UTC"]
                ),
                ("/invitations/\(token)", ["deviceId": "eva", "title": "Latin", "timeZone": "UTC"]),
                (
                    "/series",
                    [
                        "deviceId": "fay", "title": "Piano", "startTime": "09:00", "timeZone": "UTC",
                        "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
                    ]
                ),
            ]
            let works = try await inject(.fails, into: "reminders.publish_batch", in: journey)
            try await journey.advance(to: start, -60)
            try await eventually("no readiness, for the reminders") {
                let answer = try await endpoint.get("/readyz")
                return try answer.status == 503
                    && answer.json()["reason"].string?.hasPrefix("Reminders are late") == true
            }
            for (target, body) in requests {
                let refused = try await endpoint.post(target, body)
                #expect(refused.status == 503 && refused.code == "database_unavailable", "\(target) \(refused.text)")
                #expect(refused.headers["Retry-After"] == "1")
                #expect(try refused.json()["reason"].string?.hasPrefix("This server can't send reminders") == true)
            }
            #expect(try await journey.count("schedule.task") == 3)
            // An invalid request gets its own refusal.
            #expect(try await endpoint.post("/task", ["deviceId": "dan"]).status == 400)
            #expect(try await endpoint.get("/history?deviceId=ada").status == 200)

            try await journey.sql(works)
            #expect(try await ada.nextReminder().title == "History")
            try await eventually("readiness") { try await endpoint.get("/readyz").status == 200 }
            for (target, body) in requests {
                let accepted = try await endpoint.post(target, body)
                #expect([200, 201].contains(accepted.status), "\(target) \(accepted.text)")
            }
        }
    }

    @Test("A committed claim whose answer was lost is counted and sent to its streams")
    func lostClaim() async throws {
        try await Journey.run { journey in
            let (relay, conninfo) = try journey.relay()
            let endpoint = try await journey.daemon {
                $0.database = .url(conninfo)
                // The daemon notices the lost answer only when the connection ends.
                $0.postgres.stallTimeout = .seconds(30)
            }
            let start = try await journey.instant(in: 3600)
            let late = Instant(seconds: start.seconds - 600)
            try await endpoint.register("ada", start)
            // This task's start passes before it is claimed, so its reminder is missed at once.
            try await endpoint.register("bob", late)
            let ada = try await endpoint.reminders(of: "ada")
            let gate = try await StatementGate.close(at: .claim, in: journey)
            try await journey.advance(to: start, -60)
            try await gate.waitForStatements()
            relay.stall([.toClient])
            try await gate.open()
            try await journey.wait(until: "EXISTS (SELECT FROM reminders.claim)")
            relay.drop()
            relay.resume()
            #expect(try await ada.nextReminder().title == "History")
            _ = try await MetricsReading.wait(at: endpoint) {
                $0[#"letsswitch_reminders_total{outcome="fired"}"#] == 1
                    && $0[#"letsswitch_reminders_total{outcome="missed"}"#] == 1
                    && $0["letsswitch_reminder_lateness_seconds_count"] == 2
            }
            relay.close()
        }
    }

    @Test("A stream that reconnects gets no reminder twice, even with a thousand ahead")
    func manyPending() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.database = .url(journey.faultyConninfo)
                $0.schedule.reminderLead = .seconds(3600)
                $0.schedule.maxTasksPerDevice = 2000
            }
            let start = try await journey.instant(in: 7200)
            let store = ScheduleStore(
                database: journey.client, settings: ScheduleSettings(reminderLead: 3600, maxTasksPerDevice: 2000))
            let count = 1100
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<4 {
                    group.addTask {
                        for number in stride(from: lane, to: count, by: 4) {
                            let slot = Instant(seconds: start.seconds + number)
                            _ = try await store.register(
                                try ScheduleDatabase.request("ada", "\(slot)", "T\(number)", zone: "UTC"))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let last = Instant(seconds: start.seconds + count)
            try await journey.advance(to: last, -3600)
            try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder) = \(count)")
            let first = try await endpoint.reminders(of: "ada")
            var received: [UUID] = []
            for _ in 0..<count { received.append(try await first.nextReminder().id) }
            #expect(Set(received).count == count)
            // The client has seen only some of them, and notifications are lost meanwhile.
            let again = try await endpoint.reminders(of: "ada", after: received[count - 101])
            _ = try await journey.terminateConnections()
            for id in received.suffix(100) { #expect(try await again.nextReminder().id == id) }
            // The start is late enough that its lead doesn't begin during the registration.
            let next = Instant(seconds: last.seconds + 1800)
            try await eventually("a task taken") {
                try await endpoint.post("/task", ClientEndpoint.task("ada", next, "Next")).status == 201
            }
            try await journey.advance(to: next, -3600)
            for stream in [first, again] { #expect(try await stream.nextReminder().title == "Next") }
        }
    }
}

extension Instant {
    fileprivate var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}
