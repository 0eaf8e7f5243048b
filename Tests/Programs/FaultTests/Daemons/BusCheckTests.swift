import LetsSwitch
import Observability
import Postgres
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Daemons
@testable import Settings

/// The output of `letsswitchd check` and `/metrics` about the bus.
@Suite struct BusCheckTests {
    private func check(_ database: String, bus: BusChoice = .automatic) async -> ConfigurationCheck {
        var configuration = Configuration()
        configuration.database = .url(database)
        configuration.bus = bus
        var check = ConfigurationCheck(of: configuration, at: 0)
        await check.checkBus(of: configuration)
        return check
    }

    @Test("The check reaches the bus of a database that no daemon has used")
    func empty() async throws {
        let check = await check(try await TestCluster.shared.makeDatabase())
        #expect(check.isPassed)
        #expect(check.report.contains("bus: auto\n") && check.report.contains("daemons: none has used "))
        #expect(check.report.contains(/bus: works, round trip \d+ ms/))
    }

    @Test("The check warns of live daemons on another bus")
    func daemons() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let conninfo = database.configuration.conninfo
            #expect(await check(conninfo).report.contains("daemons: none is running"))
            let store = DaemonStore(database: database.client)
            let info = DaemonInfo(id: DaemonID(), host: "box", build: "9.9", language: 7, bus: "amqp")
            _ = try await store.beat(info, BusStatus(), gone: [])
            let line = """
                daemon: running on box, build 9.9, bus amqp with protocol version 7; \
                its bus is disconnected or not needed; cheers lost: 0, not sent: 0\n
                """
            let other = await check(conninfo, bus: .postgresql)
            #expect(other.isPassed && other.report.contains(line))
            #expect(
                other.report.contains("warning: cheers and presence don't pass between that daemon and bus postgresql"))
            let none = await check(conninfo, bus: .none)
            #expect(none.report.contains(line) && !none.report.contains("bus: works"))
            try await store.end(info.id)
            #expect(await check(conninfo).report.contains("daemons: none is running"))
        }
    }

    @Test("The check reports each bus's delay and losses")
    func standing() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let conninfo = database.configuration.conninfo
            let store = DaemonStore(database: database.client)
            let info = DaemonInfo(id: DaemonID(), host: "box", build: "9.9", language: 7, bus: "postgresql")
            let bus = BusStatus(isConnected: true, delay: .microseconds(4_200), lost: 3, dropped: 21)
            _ = try await store.beat(info, bus, gone: [])
            let line = "version 7; its bus is connected, 5 ms round trip; cheers lost: 3, not sent: 21\n"
            #expect(await check(conninfo).report.contains(line))
            _ = try await store.beat(info, BusStatus(isConnected: true, lost: 4, dropped: 21), gone: [])
            let next = "version 7; its bus is connected; cheers lost: 4, not sent: 21\n"
            #expect(await check(conninfo).report.contains(next))
        }
    }

    @Test("An unreachable database is a warning, because the daemon waits for it")
    func unreachable() async {
        let check = await check("host=/nowhere dbname=x")
        #expect(check.isPassed && check.report.contains("warning: the database that --database-url names: "))
    }

    @Test("The check of a private cluster has no bus")
    func privateCluster() async {
        var configuration = Configuration()
        configuration.stateDirectory = TestClusterDirectories.shared.make()
        var check = ConfigurationCheck(of: configuration, at: 0)
        await check.checkBus(of: configuration)
        #expect(
            check.isPassed && check.report.hasSuffix("daemons: only this one, because the private cluster is used\n"))
    }

    @Test("The metrics show the bus and its losses")
    func metrics() {
        func page(_ metrics: BusMetrics) -> String {
            var text = MetricsText()
            metrics.write(to: &text)
            return String(decoding: text.bytes, as: UTF8.self)
        }
        let metrics = BusMetrics()
        #expect(page(metrics).contains("letsswitch_bus_connected{bus=\"none\"} 0\n"))
        #expect(page(metrics).contains("letsswitch_bus_lost_total 0\n"))
        #expect(!page(metrics).contains("delay"))
        metrics.noteBus(.postgresql, isConnected: true)
        metrics.noteDaemons(
            ["postgresql", "postgresql", "pigeons"].map {
                DaemonInfo(id: DaemonID(), host: "h", build: "1", language: 1, bus: $0)
            })
        metrics.noteEcho(after: .milliseconds(2))
        metrics.lost.add(3)
        metrics.packets.add(.sent, 4)
        for line in [
            "connected{bus=\"postgresql\"} 1", "daemons{bus=\"postgresql\"} 2", "daemons{bus=\"amqp\"} 0",
            "daemons{bus=\"none\"} 1", "delay_seconds 0.002", "lost_total 3", "packets_total{direction=\"out\"} 4",
        ] {
            #expect(page(metrics).contains("letsswitch_bus_\(line)\n"), "\(line)")
        }
        // Without a bus nothing is measured.
        metrics.noteBus(.none, isConnected: false)
        #expect(!page(metrics).contains("delay"))
    }
}
