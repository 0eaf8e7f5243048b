import BusTestSupport
import Foundation
import JourneyTestSupport
import Postgres
import TestSupport
import Testing

/// The bus is unavailable for a while.
@Suite struct BusOutageTests {
    /// A room with a speaker on one daemon and a listener on the other.
    private struct Pair {
        let sender: FleetPeer
        let receiver: FleetPeer
    }

    @Test(
        "A database restart under load loses no ale without counting it"
    )
    func restart() async throws {
        let cluster = try await TestCluster.dedicated()
        try await Journey.run(on: cluster) { journey in
            try await outlasts("the database's restart", journey) {
                await cluster.stop()
            } start: { _ in
                try await cluster.start()
            }
        }
        await cluster.stop()
    }

    @Test("Refused NOTIFYs under load lose no ale without counting it")
    func refusal() async throws {
        try await Journey.run { journey in
            // This `pg_notify` replaces PostgreSQL's, and can fail like a full queue.
            try await TestCluster.execute(
                """
                SET allow_system_table_mods = on;
                CREATE TABLE refusal (text text);
                ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO pg_notify_of_server;
                CREATE FUNCTION pg_catalog.pg_notify(channel text, payload text) RETURNS void LANGUAGE plpgsql AS $$
                BEGIN
                    IF channel LIKE 'letsswitch_bus%' AND EXISTS (SELECT FROM public.refusal) THEN
                        RAISE program_limit_exceeded USING MESSAGE = 'too many notifications in the NOTIFY queue';
                    END IF;
                    PERFORM pg_catalog.pg_notify_of_server(channel, payload);
                END $$
                """, journey.conninfo)
            try await outlasts("refused notifications", journey) {
                try await journey.sql("INSERT INTO refusal VALUES ('')")
            } start: { fleet in
                for (number, endpoint) in fleet.endpoints.enumerated() {
                    let stream = try await endpoint.reminders(of: "device-\(number)")
                    let start = try await journey.instant(in: 3_600)
                    try await endpoint.register("device-\(number)", start, "now")
                    try await journey.advance(to: start, -59)
                    #expect(try await stream.nextReminder().title == "now")
                    #expect(try await MetricsReading(endpoint).sum("letsswitch_bus_connected") == 1)
                }
                try await journey.sql("DELETE FROM refusal")
            }
        }
    }

    @Test(
        "A killed broker under load loses no ale without counting it",
        .enabled(if: TestBroker.runs, Comment(rawValue: TestBroker.whySkipped)))
    func broker() async throws {
        let broker = try await TestBroker.start()
        try await Journey.run { journey in
            try await outlasts("the broker's restart", journey, ["--bus", "amqp", "--amqp-url", broker.url]) {
                await broker.kill()
            } start: { fleet in
                for endpoint in fleet.endpoints { #expect(try await endpoint.get("/readyz").status == 200) }
                try await broker.start()
            }
        }
        await broker.end()
    }

    @Test("A daemon without its broker is ready and serves its own members")
    func noBroker() async throws {
        try await Journey.run { journey in
            let arguments = ["--bus", "amqp", "--amqp-url", "amqp://guest:guest@127.0.0.1:\(try FreePort.find())/"]
            var fleet = DaemonFleet()
            for _ in 0..<2 { try await fleet.add(in: journey, arguments) }
            let room = UUID()
            for endpoint in fleet.endpoints {
                let (sender, receiver) = (
                    try await FleetPeer.enter(room, at: endpoint), try await FleetPeer.enter(room, at: endpoint)
                )
                try await sender.send(3)
                try await eventually("its ales") { await receiver.received == 3 }
                #expect(try await endpoint.get("/readyz").status == 200)
                #expect(try await MetricsReading(endpoint).sum("letsswitch_bus_connected") == 0)
            }
            for member in fleet.members { try await member.process.terminate() }
        }
    }

    /// Runs two daemons and sends ales from peers on both while the bus is stopped and started.
    private func outlasts(
        _ what: String, _ journey: Journey, _ arguments: [String] = [], stop: () async throws -> Void,
        start: (DaemonFleet) async throws -> Void
    ) async throws {
        let fleet = try await DaemonFleet.start(2, in: journey, arguments)
        var pairs: [Pair] = []
        for _ in 0..<6 {
            let room = UUID()
            pairs.append(
                Pair(
                    sender: try await FleetPeer.enter(room, at: fleet.endpoints[0], "&presence=true"),
                    receiver: try await FleetPeer.enter(
                        room, at: fleet.endpoints[1], daemon: 1, "&presence=true")))
        }
        // Each daemon knows that the other one needs the room's ales.
        for pair in pairs { for peer in [pair.sender, pair.receiver] { try await peer.waitForCount(2) } }
        let end = EventRecorder<Void>()
        let load = Task { [pairs] in
            while end.all.isEmpty {
                for pair in pairs { try await pair.sender.send() }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        func received() async -> Int {
            var sum = 0
            for pair in pairs { sum += await pair.receiver.received }
            return sum
        }
        try await eventually("ales") { await received() > 200 }
        try await stop()
        // The daemon must have dropped ales while the bus was unavailable.
        try await eventually("ales given up") { try await fleet.dropped(at: 0) > 100 }
        let away = await received()
        try await start(fleet)
        try await Recovery.expect(after: what) {
            try await eventually("ales again") { await received() > away }
        }
        try await eventually("more ales") { await received() > away + 200 }
        end.append(())
        try await load.value

        // A daemon notices lost ales at the latest with the next one.
        for pair in pairs { try await pair.sender.send() }
        var all = 0
        for pair in pairs { all += await pair.sender.sent }
        try await eventually("every ale received or counted") {
            let sum = await received() + (try await fleet.lost(at: 1))
            guard sum <= all else { throw ClientFailure.violation("\(sum) ales of \(all)") }
            return sum == all
        }
        #expect(try await fleet.lost(at: 1) > 0)
        // The daemons' next heartbeats write it to the database too, for `letsswitchd check`.
        try await eventually("what was lost, in the daemons' rows") {
            try await journey.sql(
                """
                SELECT bool_and(is_bus_connected) AND sum(bus_lost) > 0 AND sum(bus_dropped) > 100 AS is_reported
                FROM core.daemon
                """)[0].boolean("is_reported")
        }
        for pair in pairs {
            for peer in [pair.sender, pair.receiver] {
                #expect(await peer.isConnected)
                #expect(await peer.objections == [])
            }
            #expect(await pair.sender.received == 0)
        }
        // Ales are sent in both directions.
        for pair in pairs { try await pair.receiver.send(3) }
        for pair in pairs { try await eventually("three ales") { await pair.sender.received == 3 } }
    }
}
