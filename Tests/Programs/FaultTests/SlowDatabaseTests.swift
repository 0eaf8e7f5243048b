import Domain
import Foundation
import JourneyTestSupport
import Postgres
import Schedule
import Settings
import TestSupport
import Testing

/// The database or a part of it is slow, and no request waits without a limit.
@Suite struct SlowDatabaseTests {
    @Test("A burst is answered completely, even after a long silence of the database")
    func burst() async throws {
        try await Journey.run(timeouts: .documented) { journey in
            let (relay, conninfo) = try journey.relay()
            let endpoint = try await journey.daemon {
                $0.database = .url(conninfo)
                $0.postgres.maxConnections = 1
                $0.postgres.stallTimeout = .milliseconds(1_500) * TimeAllowance.factor
                $0.postgres.queryTimeout = .seconds(60)
            }
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("warm", start)
            // A pipeline of 32 queries has a round trip of 600 ms, so 320 queries take at least six seconds.
            relay.slow(by: .milliseconds(300))
            let began = ContinuousClock.now
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<320 {
                    let request = ClientEndpoint.task("d\(number)", Instant(seconds: start.seconds + number), "T")
                    group.addTask { try await endpoint.post("/task", request).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 201 })
            #expect(ContinuousClock.now - began > .seconds(3))
            relay.close()
        }
    }

    @Test("A statement that hangs delays no other request")
    func hangingStatement() async throws {
        try await Journey.run(timeouts: .documented) { journey in
            let endpoint = try await journey.daemon {
                $0.postgres.maxConnections = 2
                // Longer than a busy machine makes other statements wait.
                $0.postgres.stallTimeout = .seconds(5)
                $0.schedule.maxTasksPerDevice = 100_000
            }
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("ada", start)
            let holder = try await journey.connect()
            try await holder.execute("BEGIN")
            // Takes the lock of a registration in this slot, and keeps it.
            try await holder.execute("SELECT pg_advisory_xact_lock((19539::bigint << 48) + \(start.seconds))")

            let ended = EventRecorder<Void>()
            let held = Task {
                defer { ended.append(()) }
                return try await endpoint.post("/task", ClientEndpoint.task("bob", start, "Maths"))
            }
            var statuses: [Int] = []
            // The lock is held until all of them are answered. Five more after its end, and one that may have begun before.
            var more = 6
            while more > 0 || statuses.count < 20 {
                if !ended.all.isEmpty { more -= 1 }
                let other = Instant(seconds: start.seconds + 60 + statuses.count)
                statuses.append(try await endpoint.post("/task", ClientEndpoint.task("cleo", other, "T")).status)
            }
            let refused = try await held.value
            #expect(refused.status == 503 && refused.headers["Retry-After"] != nil)
            // Statements that were sent after the hanging one fail with it.
            #expect(statuses.count { $0 == 503 } <= 2)
            #expect(statuses.suffix(5).allSatisfy { $0 == 201 })
            try await holder.execute("COMMIT")
            await holder.close()
            #expect(
                [200, 201].contains(try await endpoint.post("/task", ClientEndpoint.task("bob", start, "Maths")).status)
            )
            #expect(try await journey.count("schedule.task WHERE device_id = 'bob'") == 1)
        }
    }

    @Test("Connections that died while idle are noticed together")
    func deadWhileIdle() async throws {
        try await Journey.run(timeouts: .documented) { journey in
            let (relay, conninfo) = try journey.relay()
            let endpoint = try await journey.daemon { $0.database = .url(conninfo) }
            let start = try await journey.instant(in: 3600)
            // Several connections, opened by bursts.
            var connections = 0
            try await eventually("four connections") {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<60 { group.addTask { try await endpoint.register("d\(number)", start) } }
                    try await group.waitForAll()
                }
                connections = Int(try await MetricsReading(endpoint)[#"letsswitch_db_pool_connections{state="up"}"#])
                return connections >= 4
            }
            let stream = try await endpoint.reminders(of: "ada")
            try await endpoint.register("ada", try await journey.instant(in: 63))
            try await journey.startClock()
            relay.abandon()
            // Longer than the silence after which an idle connection counts as suspect (`stallTimeout`).
            try await Task.sleep(for: .milliseconds(1600))
            // The first request finds its connection dead, unless another statement has found that out for all of them. If
            // each connection were found dead by itself, as many requests would be refused as there are connections. A few
            // more are refused on a slow machine, where a new connection takes longer than `stallTimeout`.
            var refusals = 0
            var status = 503
            while status == 503, refusals < connections {
                status = try await endpoint.post("/task", ClientEndpoint.task("bob", start, "T")).status
                if status == 503 { refusals += 1 }
            }
            #expect([200, 201].contains(status) && refusals < connections)
            // The scheduler's connection is as dead: it claims on it in vain, and then on another.
            #expect(try await stream.nextReminder().title == "History")
            relay.close()
        }
    }
}
