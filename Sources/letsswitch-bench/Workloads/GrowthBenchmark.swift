import Glibc

/// What an ale, a coming and a going cost as connections and rooms become more: rooms of two, five of them busy.
enum GrowthBenchmark {
    static let id = "growth"
    private static let roomCounts = [1, 5, 50, 500, 5_000, 10_000]
    private static let busyRooms = 5
    /// Peers that come and go on top.
    private static let passers = 2_000
    /// The rates of so few connections are beyond what a peer may do.
    private static let flags = TableBenchmark.daemonFlags + ["--message-rate", "0"]

    /// One server's figures at one size.
    private struct Point {
        var delivery: [Sample] = []
        var join: [Sample] = []
        var leave: [Sample] = []
    }

    static func run(_ laboratory: Laboratory, _ report: inout Report) throws(BenchFailure) {
        let relay = try laboratory.relay()
        let daemon = try laboratory.daemon(flags: flags)
        let servers = [relay.server, daemon.server]
        let most = (laboratory.descriptors - passers) / 2
        let sizes = roomCounts.map { min($0, most) }
        if let last = roomCounts.last, most < last {
            report.notes.append("Growth: \(Column.grouped(most)) rooms at most, since no more descriptors are allowed.")
        }
        var rows: [[Row]] = [[], [], []]
        for size in sizes {
            let points = try servers.map { server throws(BenchFailure) in
                try measure(server, rooms: size, laboratory.options)
            }
            let title = "\(Column.grouped(2 * size)) connections, \(Column.grouped(size)) rooms"
            let parts: [(String, KeyPath<Point, [Sample]>)] = [
                ("delivery", \.delivery), ("join", \.join), ("leave", \.leave),
            ]
            for (index, (unit, path)) in parts.enumerated() {
                let (floor, own) = (points[0][keyPath: path], points[1][keyPath: path])
                rows[index].append(
                    Row(
                        id: "\(id)-\(unit)-\(size)", title: title, unit: unit, daemon: Figures(own),
                        baseline: Figures(floor), ratio: Row.ratio(of: own, to: floor)))
            }
        }
        report.rows += rows.flatMap(judge)
    }

    /// Against the size of ten connections; the kernel's caches, which the relay feels too, are not the daemon's fault.
    private static func judge(_ rows: [Row]) -> [Row] {
        rows.enumerated().map { index, row in
            guard index > 1 else { return row }
            var row = row
            let growth = row.daemon.cost / max(rows[1].daemon.cost, 1e-9)
            let floorGrowth = row.baseline.cost / max(rows[1].baseline.cost, 1e-9)
            row.wanted =
                "flat: ×\(Column.number(growth, decimals: 2)), floor ×\(Column.number(floorGrowth, decimals: 2))"
            row.isMet = growth <= 1.15 || growth <= 1.15 * floorGrowth
            return row
        }
    }

    private static func measure(
        _ server: Server, rooms: Int, _ options: Options
    ) throws(BenchFailure) -> Point {
        let meter = try ProcessMeter(pid: server.pid)
        let crowd = Crowd(of: server, roomSize: 2, roomCount: rooms)
        try crowd.gather()
        try meter.waitUntilIdle()
        var point = Point()
        for _ in 0..<options.rounds {
            var load = try ClosedLoop(crowd, .oneMember(ales: 1))
            point.delivery.append(
                try load.run(warmUp: options.seconds / 5, seconds: options.seconds / 2, busyRooms: busyRooms))
            let others = Crowd(of: server, roomSize: 2, roomCount: passers / 2)
            try meter.waitUntilIdle()
            var watch = try Stopwatch(server)
            try others.gather()
            try meter.waitUntilIdle()
            point.join.append(try watch.stop(work: others.peerCount))
            watch = try Stopwatch(server)
            others.disperse()
            try meter.waitUntilIdle()
            point.leave.append(try watch.stop(work: passers))
        }
        crowd.disperse()
        try meter.waitUntilIdle()
        return point
    }
}
