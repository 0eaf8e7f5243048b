import Glibc

/// Rooms whose peers are spread over several daemons. The daemons are compared with one daemon, with relays, and with
/// bare clients of the bus.
///
/// The distribution of peers is random, but the same for daemons, relays and clients. Each room has `roomSize` peers.
struct BusCrossing {
    private static let roomSize = 5
    private static let roomCounts = [10, 100, 1_000]
    /// The time in seconds after which each peer receives the ales of all daemons. Ales of other daemons arrive from
    /// 250 ms after a peer's handshake.
    private static let untilAllHear = 0.5

    let laboratory: Laboratory
    let engine: BusEngine
    /// The number of daemons, which is also the number of relays.
    let count: Int
    private var options: Options { laboratory.options }

    func run(_ report: inout BusReport) throws {
        let daemons = try laboratory.daemons(
            count, name: "\(engine.id)-\(count)", database: laboratory.conninfo, flags: engine.daemonFlags)
        defer { daemons.stop() }
        // Relays can't use RabbitMQ.
        var relays: Fleet?
        if case .notify = engine { relays = try laboratory.relays(count) }
        defer { relays?.stop() }
        for rooms in options.isQuick ? [10] : Self.roomCounts {
            let id = "\(engine.id)-\(count)-\(rooms)"
            guard options.wants(id), rooms * Self.roomSize * 2 < laboratory.descriptors else { continue }
            try measure(daemons, relays, id, rooms: rooms, &report)
        }
    }

    private func measure(
        _ daemons: Fleet, _ relays: Fleet?, _ id: String, rooms: Int, _ report: inout BusReport
    ) throws(BenchFailure) {
        let crowd = try gather(daemons, rooms: rooms)
        let relayed = try relays.map { fleet throws(BenchFailure) in try gather(fleet, rooms: rooms) }
        let lostBefore = try lost(daemons)
        let rounds = CrossingRounds(laboratory: laboratory, engine: engine, daemons: crowd, relays: relayed)
        let outcome = try rounds.run()
        let title = "\(count) daemon\(count == 1 ? "" : "s"), \(Column.grouped(rooms)) rooms"
        let miscounts = crowd.miscounts()
        guard miscounts.surplus == 0 else { throw BenchFailure("\(title): \(miscounts.surplus) frames too many") }
        let lost = Int(try lost(daemons) - lostBefore)
        func row(_ id: String, beside floor: CrossingRounds.Samples, _ floorName: String) -> BusReport.Row {
            var row = BusReport.Row(
                id: id, title: title, floorName: floorName, floor: floor.most, daemons: outcome.daemons.most)
            row.setWaits(floor: floor.steady, daemons: outcome.daemons.steady)
            (row.missing, row.surplus, row.lost) = (miscounts.missing, miscounts.surplus, lost)
            return row
        }
        if count > 1 {
            report.add(row(id, beside: outcome.engine, "\(engine.name) alone").judged(rate: 0.7, waits: 3))
        }
        guard let (missing, surplus) = relayed?.miscounts() else { return }
        guard missing == 0, surplus == 0 else {
            throw BenchFailure("the relays: \(missing) frames missing, \(surplus) too many")
        }
        report.add(row("relays-\(count)-\(rooms)", beside: outcome.relays, "relays"))
    }

    /// Distributes and connects the peers. Returns when every peer receives the ales of all daemons.
    private func gather(_ fleet: Fleet, rooms: Int) throws(BenchFailure) -> Crowd {
        var random = SeededRandom(seed: options.seed)
        let crowd = Crowd(
            of: fleet.servers, roomSize: Self.roomSize, roomCount: rooms, offersCompression: options.offersCompression
        ) { Int.random(in: fleet.servers.indices, using: &random) }
        try crowd.gather()
        usleep(UInt32(Self.untilAllHear * 1e6))
        return crowd
    }

    /// Returns the number of ales that the daemons counted as lost or dropped.
    private func lost(_ fleet: Fleet) throws(BenchFailure) -> Double {
        var sum = 0.0
        for server in fleet.servers {
            let metrics = try ServerMetrics(of: server)
            sum += metrics.sum("letsswitch_bus_lost_total") + metrics.sum("letsswitch_bus_dropped_total")
        }
        return sum
    }
}
