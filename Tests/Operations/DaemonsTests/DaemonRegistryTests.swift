import Observability
import Postgres
import Rooms
import ScheduleTestSupport
import Schema
import TestSupport
import Testing

@testable import Daemons

/// Registries of several daemons on one database. Their times are a tenth of the usual ones.
@Suite struct DaemonRegistryTests {
    private static let hasty = DaemonTiming(
        interval: .milliseconds(495), patience: .milliseconds(950), longestPause: .milliseconds(800))
    /// Long times, so that no daemon is given up because a busy machine delays its heartbeats.
    private static let patient = DaemonTiming(
        interval: .milliseconds(495), patience: .seconds(120), longestPause: .seconds(60))

    private final class Member: Sendable {
        static let bus = BusStatus(isConnected: true, delay: .milliseconds(3), lost: 7, dropped: 2)

        let info: DaemonInfo
        let registry: DaemonRegistry
        let news = EventRecorder<DaemonRegistry.News>()
        let beats = BeatRecorder()
        private let client: PostgresClient
        private let running: Task<Void, Never>

        init(
            _ configuration: PostgresConfiguration, host: String, bus: String = "postgresql",
            timing: DaemonTiming = DaemonRegistryTests.hasty, log: Log
        ) {
            info = DaemonInfo(id: DaemonID(), host: host, build: "1", language: 3, bus: bus)
            client = PostgresClient(configuration: configuration, observer: beats)
            registry = DaemonRegistry(
                info, bus: { Self.bus }, database: client, timing: timing, log: log,
                notify: { [news] in news.append($0) })
            running = Task { [registry] in await registry.run() }
        }

        func knows(_ others: [Member], within allowed: Duration = Deadline.standard) async throws {
            let expected = DaemonRegistry.News.others(
                others.map(\.info).sorted { $0.id.description < $1.id.description })
            try await news.next("\(others.map(\.info.host)) are alive", within: allowed) { $0 == expected }
        }

        /// Stops the registry in an orderly way.
        func stop() async {
            await registry.stop(within: .seconds(5))
            await running.value
            await client.shutdown()
        }

        /// Ends like `kill -9`: from now on the registry can't reach the database.
        func die() async {
            await client.shutdown()
            await registry.stop(within: .zero)
        }
    }

    /// Records the times of successful and failed heartbeats.
    private struct BeatRecorder: PostgresObserver {
        let succeeded = EventRecorder<ContinuousClock.Instant>()
        let failed = EventRecorder<ContinuousClock.Instant>()

        func query(name: String, duration: Duration, outcome: PostgresQueryOutcome) {
            guard name == "beat" else { return }
            (outcome == .succeeded ? succeeded : failed).append(.now)
        }

        func connection(_ event: PostgresConnectionEvent, message: String) {}
    }

    private func withDatabase(
        timing: DaemonTiming = hasty, _ body: (ScheduleDatabase, _ make: (String) -> Member) async throws -> Void
    ) async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            var configuration = database.configuration
            configuration.maxConnections = 1
            try await body(database) {
                Member(configuration, host: $0, timing: timing, log: Log(level: .error, format: nil))
            }
        }
    }

    /// Repeats the attempt if a busy machine delayed heartbeats so long that the others rightly gave the daemon up.
    ///
    /// - Parameter attempt: Returns the heartbeats that must have been close together, and what to expect if they were.
    private func inTime(
        _ attempt: () async throws -> (beats: [[ContinuousClock.Instant]], expectation: () -> Void)
    ) async throws {
        for _ in 1...10 {
            let (beats, expectation) = try await attempt()
            let gaps = beats.flatMap { zip($0.dropFirst(), $0).map(-) }
            if gaps.allSatisfy({ $0 < .milliseconds(750) }) { return expectation() }
        }
        Issue.record("never was there time for all beats")
    }

    /// Passes the notifications of `letsswitch_daemons` to all members.
    private func listen(_ database: ScheduleDatabase, _ members: [Member]) async throws -> PostgresListener {
        let (events, sink) = AsyncStream.makeStream(of: PostgresListenerEvent.self)
        let listener = PostgresListener(configuration: database.configuration, channels: [DaemonStore.channel]) {
            event in
            sink.yield(event)
            guard case .notification(_, let id) = event else { return }
            Task { for member in members { await member.registry.lookAgain(of: id) } }
        }
        await listener.start()
        for await event in events where event == .listening { break }
        return listener
    }

    @Test("Daemons know each other after their first heartbeats")
    func comingAndGoing() async throws {
        try await withDatabase { database, make in
            let first = make("first")
            let listener = try await listen(database, [first])
            let second = make("second")
            try await second.knows([first])
            try await first.knows([second])
            #expect(await first.registry.others == [second.info])
            #expect(
                try await DaemonStore(database: database.client).alive()
                    == [first.info, second.info].map { DaemonReport(info: $0, bus: Member.bus) })
            await second.stop()
            try await first.knows([])
            #expect(try await database.count("core.daemon") == 1)
            await first.stop()
            await listener.stop()
            #expect(try await database.count("core.daemon") == 0)
            // Stopping again does nothing, and no new beat starts.
            await first.registry.stop(within: .seconds(1))
            await first.registry.run()
            #expect(try await database.count("core.daemon") == 0)
        }
    }

    /// Returns times with which a look happens only after a notification or in doubt.
    private static func unhurried(doubtfulLooks: Int) -> DaemonTiming {
        DaemonTiming(
            interval: .seconds(3_600), patience: .seconds(7_000), longestPause: .seconds(5_000),
            doubtPause: .milliseconds(20), doubtfulLooks: doubtfulLooks)
    }

    @Test("A daemon that starts after the database's clock was set ahead knows the live ones after its look")
    func newcomerAfterClockStep() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let log = Log(level: .error, format: nil)
            func make(_ host: String) -> Member {
                Member(
                    database.configuration, host: host, timing: Self.unhurried(doubtfulLooks: 1_000_000), log: log)
            }
            let first = make("first")
            await first.registry.hasLooked()
            let listener = try await listen(database, [first])
            try await database.setClock("2036-01-01T00:00:00Z")
            let second = make("second")
            await second.registry.hasLooked()
            #expect(await second.registry.others == [first.info])
            try await first.knows([second])
            await listener.stop()
            await first.stop()
            await second.stop()
        }
    }

    @Test("The row of a dead daemon causes only a few more checks")
    func leftover() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let log = Log(level: .error, format: nil)
            let dead = DaemonInfo(id: DaemonID(), host: "dead", build: "1", language: 3, bus: "postgresql")
            _ = try await DaemonStore(database: database.client).beat(dead, BusStatus(), gone: [])
            try await database.setClock("2036-01-01T00:00:00Z")
            let newcomer = Member(
                database.configuration, host: "newcomer", timing: Self.unhurried(doubtfulLooks: 3), log: log)
            await newcomer.registry.hasLooked()
            #expect(await newcomer.registry.others == [])
            let beats = "SELECT beats FROM core.daemon WHERE host = 'newcomer'"
            #expect(try await database.run(beats)[0].integer("beats") == 4)
            await newcomer.stop()
        }
    }

    @Test("A dead daemon is gone for the others, and its row is deleted")
    func death() async throws {
        try await withDatabase { database, make in
            let (first, second) = (make("first"), make("second"))
            try await first.knows([second])
            try await second.knows([first])
            // After how many beats is decided by DaemonRoster, whose tests have a clock of their own.
            await second.die()
            try await first.knows([])
            try await eventually("its row's end") { try await database.count("core.daemon") == 1 }
            await first.stop()
        }
    }

    @Test("The people of a dead daemon leave at its last heartbeat")
    func attendance() async throws {
        try await withDatabase { database, make in
            let (first, second) = (make("first"), make("second"))
            try await first.knows([second])
            // More rooms than one step handles. One of them also has a member on the other daemon.
            try await database.run(
                """
                INSERT INTO core.attendance
                    (room_id, closes_at, joined_at, changed_at, present, visits, most_peers)
                SELECT gen_random_uuid(), clock_timestamp(), '2026-01-01', '2026-01-01', 2, 2, 2
                FROM generate_series(1, 700)
                """)
            try await database.run(
                """
                INSERT INTO core.presence (reporter_id, room_id, connections)
                SELECT '\(second.info.id)', room_id, 2 FROM core.attendance
                """)
            let shared = try await database.run(
                """
                UPDATE core.attendance SET present = 3
                WHERE room_id = (SELECT min(room_id::text) FROM core.attendance)::uuid RETURNING room_id::text AS room
                """)[0].string("room")
            await second.die()
            let last = try await database.run(
                "SELECT seen_at::text AS at FROM core.daemon WHERE host = 'second'")[0].string("at")
            try await first.knows([])
            try await eventually("their end") {
                try await database.count("core.attendance WHERE left_at = '\(last)' AND present = 0") == 699
            }
            #expect(try await database.count("core.attendance WHERE room_id = '\(shared)' AND present = 1") == 1)
            #expect(try await database.count("core.presence") == 0)
            try await eventually("nothing more to do") {
                try await database.count("core.reporter WHERE must_revert") == 0
            }
            await first.stop()
        }
    }

    @Test("A daemon whose heartbeats stop is gone until they continue")
    func stillness() async throws {
        try await withDatabase { database, make in
            try await inTime {
                let (first, second) = (make("first"), make("second"))
                try await first.knows([second])
                try await second.knows([first])
                let session = try await PostgresSession.connect(database.configuration)
                // The transaction holds up the second daemon's beats.
                try await session.execute("BEGIN; SELECT FROM core.daemon WHERE host = 'second' FOR UPDATE")
                try await first.knows([])
                await session.close()
                try await first.knows([second])
                let news = second.news.all
                let beats = first.beats.succeeded.all + [.now]
                await first.stop()
                await second.stop()
                return ([beats], { #expect(news.count { $0 != .removed } == 1, "\(news)") })
            }
        }
    }

    @Test("During an outage of the database no daemon is gone, and all continue afterwards")
    func outage() async throws {
        let cluster = try await TestCluster.dedicated()
        try await inTime {
            let configuration = PostgresConfiguration(conninfo: try await cluster.makeDatabase())
            let client = PostgresClient(configuration: configuration)
            _ = try await client.migrate(DatabaseSchema.current)
            let members = ["first", "second"].map {
                Member(configuration, host: $0, log: Log(level: .error, format: nil))
            }
            try await members[0].knows([members[1]])
            try await members[1].knows([members[0]])
            let crash = ContinuousClock.now
            await cluster.crash()
            // The database is unavailable for much longer than the daemons' time limits, and each beat fails.
            let down = ContinuousClock.now
            for member in members {
                try await eventually("beats in vain") { member.beats.failed.all.contains { $0 > down + .seconds(2) } }
            }
            try await cluster.start()
            for member in members {
                try await eventually("beats") { member.beats.succeeded.all.count { $0 > down } >= 4 }
            }
            let news = members.map(\.news.all)
            let beats = members.map { $0.beats.succeeded.all + [.now] }
            for member in members { await member.stop() }
            await client.shutdown()
            let before = beats.map { $0.filter { $0 < crash } + [crash] }
            let after = beats.map { $0.filter { $0 > down } }
            return (
                before + after + [after.map { $0[0] }.sorted()],
                // The crash may have lost their rows.
                { for news in news { #expect(news.count { $0 != .removed } == 1, "\(news)") } }
            )
        }
        await cluster.stop()
    }

    @Test("A daemon whose row was removed is notified, and has a row again")
    func forgotten() async throws {
        try await withDatabase(timing: Self.patient) { database, make in
            let (first, second) = (make("first"), make("second"))
            try await first.knows([second])
            // Other daemons delete the row like this when the daemon has been silent for too long.
            try await database.run("DELETE FROM core.daemon WHERE host = 'second'")
            try await second.news.next("forgotten") { $0 == .removed }
            try await eventually("both rows") { try await database.count("core.daemon") == 2 }
            #expect(!second.news.all.contains(.others([])))
            await first.stop()
            await second.stop()
        }
    }

    @Test("A heartbeat costs one statement")
    func clockSteps() async throws {
        try await withDatabase(timing: Self.patient) { database, make in
            let (first, second) = (make("first"), make("second"))
            try await first.knows([second])
            try await second.knows([first])
            for now in ["2036-01-01T00:00:00Z", "1999-01-01T00:00:00Z", "2026-01-01T00:00:00Z"] {
                try await database.setClock(now)
                let before = try await database.run("SELECT min(beats) AS n FROM core.daemon")[0].integer("n")
                try await eventually("beats") {
                    try await database.run("SELECT min(beats) AS n FROM core.daemon")[0].integer("n") > before + 3
                }
            }
            #expect(first.news.all == [.others([second.info])] && second.news.all == [.others([first.info])])
            await first.stop()
            await second.stop()
        }
    }
}
