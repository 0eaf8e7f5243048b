import FoundationEssentials
import Glibc

/// Several daemons on one database, beside one, and beside relays that NOTIFY and do nothing else.
///
/// Peers are dealt to the servers at random, the same way for daemons and relays; every room has `roomSize` of them.
struct BusBenchmark {
    private static let roomSize = 5
    private static let daemonCounts = [1, 2, 3]
    private static let roomCounts = [10, 100, 1_000]
    /// Ales a second at which waits are measured: a few hundred deliveries in each hundredth of a second.
    private static let rate = 1_000.0
    /// After its handshake a peer hears what is said elsewhere from 250 ms on.
    private static let untilAllHear = 0.5

    let laboratory: Laboratory
    private var options: Options { laboratory.options }

    func run() throws -> BusReport {
        var report = BusReport(options)
        if laboratory.processors.numbers.count < 5 {
            report.notes.append(
                """
                Servers, PostgreSQL and the generator share \(laboratory.processors.numbers.count) processors: figures are to be compared \
                within a row.
                """)
        }
        if options.wantsSome(of: "apart") { try measureApart(&report) }
        for count in options.isQuick ? [2] : Self.daemonCounts where options.wantsSome(of: "cross-\(count)") {
            try measureCrossing(count, &report)
        }
        return report
    }

    // MARK: Rooms that one daemon knows

    /// What it costs a daemon that there is another one: all the peers are its own.
    private func measureApart(_ report: inout BusReport) throws {
        let alone = try laboratory.daemons(1, name: "alone", database: try laboratory.makeDatabase("bench_alone"))
        let both = try laboratory.daemons(2, name: "apart", database: laboratory.conninfo)
        defer {
            alone.stop()
            both.stop()
        }
        for size in [2, 10] where options.wants("apart-\(size)") {
            let workload = Workload(
                id: "apart-\(size)", title: "rooms of one daemon alone, K = \(size)", unit: "delivery",
                kind: .fanOut(roomSize: size, rooms: (options.isQuick ? 100 : 1_000) / size, .oneMember(ales: 1)))
            try laboratory.generatorProcessor.bind()
            let run = WorkloadRun(workload: workload, options: options, servers: [alone.servers[0], both.servers[0]])
            let samples = try run.run()
            try laboratory.processors.bind()
            report.add(
                BusReport.Row(
                    id: workload.id, title: workload.title, floorName: "one daemon", floor: samples[0],
                    daemons: samples[1]
                ).judged(rate: 0.97, cost: 1.03))
        }
    }

    // MARK: Rooms that several know

    private func measureCrossing(_ count: Int, _ report: inout BusReport) throws {
        let relays = try laboratory.relays(count)
        let daemons = try laboratory.daemons(count, name: "fleet-\(count)", database: laboratory.conninfo)
        defer {
            relays.stop()
            daemons.stop()
        }
        for rooms in options.isQuick ? [10] : Self.roomCounts {
            let id = "cross-\(count)-\(rooms)"
            guard options.wants(id), rooms * Self.roomSize * 2 < laboratory.descriptors else { continue }
            let fleets = [relays, daemons]
            let crowds = try fleets.map { try gather($0, rooms: rooms) }
            let lostBefore = try lost(daemons)
            var random = SeededRandom(seed: options.seed)
            var most: [[Sample]] = [[], []]
            var steady: [[Sample]] = [[], []]
            for _ in 0..<options.rounds {
                for (index, crowd) in crowds.enumerated() {
                    for server in fleets.flatMap(\.servers) { try ProcessMeter(pid: server.pid).waitUntilIdle() }
                    var load = try FleetLoad(crowd, random: &random)
                    most[index].append(
                        try load.run(.closed, warmUp: options.seconds / 5, seconds: options.seconds))
                    steady[index].append(
                        try load.run(
                            .open(rate: Self.rate), warmUp: options.seconds / 5, seconds: options.seconds))
                }
            }
            let title = "\(count) daemon\(count == 1 ? "" : "s"), \(Column.grouped(rooms)) rooms"
            var row = BusReport.Row(id: id, title: title, floorName: "relays", floor: most[0], daemons: most[1])
            row.setWaits(floor: steady[0], daemons: steady[1])
            (row.missing, row.surplus) = crowds[1].miscounts()
            row.lost = Int(try lost(daemons) - lostBefore)
            let (missing, surplus) = crowds[0].miscounts()
            guard missing == 0, surplus == 0 else {
                throw BenchFailure("the relays: \(missing) frames missing, \(surplus) too many")
            }
            guard row.surplus == 0 else { throw BenchFailure("\(title): \(row.surplus) frames too many") }
            report.add(count == 1 ? row : row.judged(rate: 0.7, waits: 3))
        }
    }

    /// Deals the peers, and returns when all hear all.
    private func gather(_ fleet: Fleet, rooms: Int) throws(BenchFailure) -> Crowd {
        var random = SeededRandom(seed: options.seed)
        let crowd = Crowd(
            of: fleet.servers, roomSize: Self.roomSize, roomCount: rooms, offersCompression: options.offersCompression
        ) { Int.random(in: fleet.servers.indices, using: &random) }
        try crowd.gather()
        usleep(UInt32(Self.untilAllHear * 1e6))
        return crowd
    }

    /// Ales that the daemons know they never heard.
    private func lost(_ fleet: Fleet) throws(BenchFailure) -> Double {
        var sum = 0.0
        for server in fleet.servers {
            let metrics = try ServerMetrics(of: server)
            sum += metrics.sum("letsswitch_bus_lost_total") + metrics.sum("letsswitch_bus_dropped_total")
        }
        return sum
    }
}
