import BusTestSupport
import Glibc
import Postgres
import Rooms
import TestSupport
import Testing

@testable import Daemons

/// The bus over a real PostgreSQL, with and without failures.
@Suite struct NotifyBusTests {
    /// A daemon's bus, and the events that it reported.
    private final class Member: Sendable {
        let id = DaemonID()
        let bus: NotifyBus
        let events = EventRecorder<BusEvent>(limit: 200_000)

        init(_ conninfo: String) async throws {
            bus = NotifyBus(id, NotifyBusTests.configuration(conninfo))
            await bus.start { [events] in events.append($0) }
            try await connected()
        }

        func connected(within allowed: Duration = Deadline.standard) async throws {
            try await events.next("connected", within: allowed) { $0 == .connected }
        }

        func lost() async throws {
            try await events.next("lost") { if case .lost = $0 { true } else { false } }
        }

        func expect(_ bytes: [UInt8], from sender: Member, within allowed: Duration = Deadline.standard) async throws {
            let expected = BusEvent.received(from: sender.id, bytes)
            try await events.next("a packet", within: allowed) { $0 == expected }
        }

        var losses: Int { events.all.count { if case .lost = $0 { true } else { false } } }
    }

    fileprivate static func configuration(_ conninfo: String) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(conninfo: conninfo, applicationName: "test")
        configuration.connectTimeout = .seconds(20)
        return configuration
    }

    private func withMembers(
        _ conninfo: String, _ body: (_ one: Member, _ other: Member) async throws -> Void
    ) async throws {
        let (one, other) = (try await Member(conninfo), try await Member(conninfo))
        do {
            try await body(one, other)
        } catch {
            await one.bus.stop()
            await other.bus.stop()
            throw error
        }
        await one.bus.stop()
        await other.bus.stop()
    }

    private func withSession(_ conninfo: String, _ body: (PostgresSession) async throws -> Void) async throws {
        let session = try await PostgresSession.connect(Self.configuration(conninfo))
        do {
            try await body(session)
        } catch {
            await session.close()
            throw error
        }
        await session.close()
    }

    @Test("After a terminated backend, the bus reconnects and repeats no packet")
    func terminatedBackends() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await withMembers(database) { one, other in
            try await withSession(database) { session in
                for (round, side) in ["LISTEN%", "%pg_notify%", "%"].enumerated() {
                    try await one.bus.send([BusPacket(to: .everyDaemon, [UInt8(round)])])
                    try await other.expect([UInt8(round)], from: one)
                    let losses = one.losses
                    try await session.execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                            AND query LIKE '\(side)' AND application_name = 'test bus'
                        """)
                    if side == "%pg_notify%" {
                        // If an idle sender's connection is closed, it uses another one or reports that it is down.
                        do {
                            try await one.bus.send([BusPacket(to: .everyDaemon, [100])])
                            try await other.expect([100], from: one)
                        } catch BusError.unavailable {
                            try await one.connected()
                        }
                    } else {
                        for member in [one, other] {
                            try await member.lost()
                            try await Recovery.expect(after: "the end of a backend") { try await member.connected() }
                        }
                        #expect(one.losses == losses + 1)
                    }
                }
                try await one.bus.send([BusPacket(to: .daemon(other.id), [7])])
                try await other.expect([7], from: one)
                #expect(other.events.all.count { $0 == .received(from: one.id, [0]) } == 1)
            }
        }
    }

    @Test(
        "After a database restart under load, packets cross again without repeats"
    )
    func restartUnderLoad() async throws {
        let cluster = try await TestCluster.dedicated()
        let database = try await cluster.makeDatabase()
        try await withMembers(database) { one, other in
            let load = Task {
                var sent = 0
                while !Task.isCancelled {
                    sent += 1
                    do throws(BusError) {
                        try await one.bus.send([BusPacket(to: .everyDaemon, Self.bytes(of: sent))])
                    } catch {
                        try? await Task.sleep(for: .milliseconds(5))
                    }
                }
                return sent
            }
            try await other.events.next("a packet") { if case .received = $0 { true } else { false } }
            await cluster.crash()
            try await one.lost()
            try await other.lost()
            // The call is sent at once, because the load's own packet may wait until the database is back.
            await #expect(throws: BusError.self) {
                try await one.bus.send([BusPacket(to: .everyDaemon, Self.bytes(of: 0))])
            }
            try await cluster.start()
            try await Recovery.expect(after: "the database's restart") {
                try await one.connected()
                try await other.connected()
                let known = other.events.all.count
                try await eventually("packets again") { other.events.all.count > known }
            }
            let known = other.events.all.count
            try await eventually("more packets") { other.events.all.count > known + 20 }
            load.cancel()
            let sent = await load.value
            let last = sent + 50
            for number in sent + 1...last {
                try await one.bus.send([BusPacket(to: .everyDaemon, Self.bytes(of: number))])
            }
            try await other.expect(Self.bytes(of: last), from: one)
            let received = other.events.all.compactMap { event -> Int? in
                guard case .received(one.id, let bytes) = event else { return nil }
                return bytes.reduce(0) { $0 << 8 | Int($1) }
            }
            #expect(zip(received, received.dropFirst()).allSatisfy(<))
            #expect(received.suffix(50) == Array(sent + 1...last)[...])
            #expect(one.losses == 1 && other.losses == 1)
        }
        await cluster.stop()
    }

    @Test("A NOTIFY that PostgreSQL refuses fails, and the bus stays connected")
    func refusal() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await withSession(database) { session in
            // This `pg_notify` replaces PostgreSQL's, and can fail like a full queue.
            try await session.execute(
                """
                SET allow_system_table_mods = on;
                CREATE TABLE refusal (text text);
                ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO pg_notify_of_server;
                CREATE FUNCTION pg_catalog.pg_notify(channel text, payload text) RETURNS void LANGUAGE plpgsql AS $$
                BEGIN
                    IF EXISTS (SELECT FROM public.refusal) THEN
                        RAISE program_limit_exceeded USING MESSAGE = 'too many notifications in the NOTIFY queue';
                    END IF;
                    PERFORM pg_catalog.pg_notify_of_server(channel, payload);
                END $$
                """)
            try await withMembers(database) { one, other in
                try await session.execute("INSERT INTO refusal VALUES ('')")
                await #expect(throws: BusError.refused(message: "too many notifications in the NOTIFY queue")) {
                    try await one.bus.send([BusPacket(to: .everyDaemon, [1])])
                }
                try await session.execute("DELETE FROM refusal")
                try await Recovery.expect(after: "refused notifications") {
                    try await one.bus.send([BusPacket(to: .everyDaemon, [2])])
                    try await other.expect([2], from: one)
                }
                #expect(one.losses == 0)
                #expect(!other.events.all.contains(.received(from: one.id, [1])))
            }
        }
    }

    @Test("If the sender's backend is frozen, a send ends in time")
    func frozenBackend() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await withMembers(database) { one, other in
            try await one.bus.send([BusPacket(to: .everyDaemon, [1])])
            try await other.expect([1], from: one)
            try await withSession(database) { session in
                let rows = try await session.execute(
                    """
                    SELECT pid FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%pg_notify%'
                    """)
                let pid = pid_t(try #require(rows?.first).integer("pid"))
                kill(pid, SIGSTOP)
                defer { kill(pid, SIGCONT) }
                // The backend stands still until this has ended.
                await #expect(throws: BusError.unavailable) {
                    try await one.bus.send([BusPacket(to: .everyDaemon, [2])])
                }
                try await one.lost()
                try await one.connected()
                try await one.bus.send([BusPacket(to: .everyDaemon, [3])])
                try await other.expect([3], from: one)
                kill(pid, SIGCONT)
                // By now the backend has sent the notification, or was cancelled.
                try await eventually("the backend's end") {
                    try await session.execute("SELECT FROM pg_stat_activity WHERE pid = \(pid)")?.isEmpty ?? true
                }
            }
            try await one.bus.send([BusPacket(to: .everyDaemon, [4])])
            try await other.expect([4], from: one)
            #expect(other.events.all.count { if case .received = $0 { true } else { false } } == 3)
        }
    }

    @Test("A bus that is stopped and started with the same id is received again")
    func again() async throws {
        let database = try await TestCluster.shared.makeDatabase()
        try await withMembers(database) { one, other in
            try await one.bus.send([BusPacket(to: .everyDaemon, [1])])
            try await other.expect([1], from: one)
            await one.bus.stop()
            await #expect(throws: BusError.unavailable) { try await one.bus.send([BusPacket(to: .everyDaemon, [2])]) }
            await one.bus.start { [events = one.events] in events.append($0) }
            try await one.connected()
            try await one.bus.send([BusPacket(to: .everyDaemon, [3])])
            try await other.expect([3], from: one)
            let successor = NotifyBus(one.id, Self.configuration(database))
            let events = EventRecorder<BusEvent>()
            await successor.start { events.append($0) }
            try await events.next { $0 == .connected }
            try await successor.send([BusPacket(to: .everyDaemon, [4])])
            try await other.expect([4], from: one)
            await successor.stop()
        }
    }

    private static func bytes(of number: Int) -> [UInt8] {
        [UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
    }
}
