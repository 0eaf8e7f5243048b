import FoundationEssentials
import Glibc

/// Several daemons on one database, beside one, beside what the bus itself carries, and beside relays that NOTIFY and do nothing
/// else.
///
/// Peers are dealt at random, the same way for all; every room has `roomSize` of them.
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
            try measureCrossing(count, over: .notify, &report)
        }
        if options.wantsSome(of: "amqp") { try measureBroker(&report) }
        return report
    }

    private func measureBroker(_ report: inout BusReport) throws {
        let broker: Broker
        do {
            broker = try Broker(directory: laboratory.directory, on: laboratory.processors)
        } catch {
            report.notes.append("Without RabbitMQ: \(error)")
            return Terminal.note("without RabbitMQ: \(error)")
        }
        defer { broker.stop() }
        for count in options.isQuick ? [2] : Self.daemonCounts where count > 1 {
            guard options.wantsSome(of: "amqp-\(count)") else { continue }
            try measureCrossing(count, over: .broker(broker), &report)
        }
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

    /// What carries ales from one daemon to the others.
    private enum Engine {
        case notify
        case broker(Broker)

        /// The rows' ids begin so.
        var id: String {
            switch self {
            case .notify: "cross"
            case .broker: "amqp"
            }
        }

        var name: String {
            switch self {
            case .notify: "NOTIFY"
            case .broker: "RabbitMQ"
            }
        }

        var daemonFlags: [String] {
            switch self {
            case .notify: []
            case .broker(let broker): ["--bus", "amqp", "--amqp-url", broker.url]
            }
        }

        /// Bare clients of it.
        func carriers(_ count: Int, conninfo: String) throws(BenchFailure) -> [any Carrier] {
            var carriers: [any Carrier] = []
            for number in 0..<count {
                switch self {
                case .notify: carriers.append(try NotifyCarrier(number: number, of: count, conninfo: conninfo))
                case .broker(let broker):
                    carriers.append(try RabbitMQCarrier(number: number, of: count, port: broker.port))
                }
            }
            return carriers
        }
    }

    private func measureCrossing(_ count: Int, over engine: Engine, _ report: inout BusReport) throws {
        let daemons = try laboratory.daemons(
            count, name: "\(engine.id)-\(count)", database: laboratory.conninfo, flags: engine.daemonFlags)
        defer { daemons.stop() }
        // They know no broker.
        var relays: Fleet?
        if case .notify = engine { relays = try laboratory.relays(count) }
        defer { relays?.stop() }
        for rooms in options.isQuick ? [10] : Self.roomCounts {
            let id = "\(engine.id)-\(count)-\(rooms)"
            guard options.wants(id), rooms * Self.roomSize * 2 < laboratory.descriptors else { continue }
            let fleets = [daemons] + (relays.map { [$0] } ?? [])
            let crowds = try fleets.map { try gather($0, rooms: rooms) }
            let lostBefore = try lost(daemons)
            var random = SeededRandom(seed: options.seed)
            // The daemons, the engine's clients, the relays.
            var most: [[Sample]] = [[], [], []]
            var steady: [[Sample]] = [[], [], []]
            for _ in 0..<options.rounds {
                for (crowd, index) in zip(crowds, [0, 2]) {
                    for server in fleets.flatMap(\.servers) { try ProcessMeter(pid: server.pid).waitUntilIdle() }
                    var load = try FleetLoad(crowd, random: &random)
                    most[index].append(try load.run(.closed, warmUp: options.seconds / 5, seconds: options.seconds))
                    steady[index].append(
                        try load.run(.open(rate: Self.rate), warmUp: options.seconds / 5, seconds: options.seconds))
                }
                guard count > 1 else { continue }
                var deal = SeededRandom(seed: options.seed)
                var bare = try BareLoad(
                    try engine.carriers(count, conninfo: laboratory.conninfo), roomSize: Self.roomSize, rooms: rooms,
                    random: &random
                ) { Int.random(in: 0..<count, using: &deal) }
                most[1].append(try bare.run(.closed, warmUp: options.seconds / 5, seconds: options.seconds))
                steady[1].append(
                    try bare.run(.open(rate: Self.rate), warmUp: options.seconds / 5, seconds: options.seconds))
            }
            let title = "\(count) daemon\(count == 1 ? "" : "s"), \(Column.grouped(rooms)) rooms"
            let miscounts = crowds[0].miscounts()
            guard miscounts.surplus == 0 else { throw BenchFailure("\(title): \(miscounts.surplus) frames too many") }
            let lost = Int(try lost(daemons) - lostBefore)
            func add(_ id: String, beside floor: Int, _ floorName: String, isJudged: Bool) {
                var row = BusReport.Row(
                    id: id, title: title, floorName: floorName, floor: most[floor], daemons: most[0])
                row.setWaits(floor: steady[floor], daemons: steady[0])
                (row.missing, row.surplus, row.lost) = (miscounts.missing, miscounts.surplus, lost)
                report.add(isJudged ? row.judged(rate: 0.7, waits: 3) : row)
            }
            if count > 1 { add(id, beside: 1, "\(engine.name) alone", isJudged: true) }
            guard crowds.count > 1 else { continue }
            let (missing, surplus) = crowds[1].miscounts()
            guard missing == 0, surplus == 0 else {
                throw BenchFailure("the relays: \(missing) frames missing, \(surplus) too many")
            }
            add("relays-\(count)-\(rooms)", beside: 2, "relays", isJudged: false)
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
