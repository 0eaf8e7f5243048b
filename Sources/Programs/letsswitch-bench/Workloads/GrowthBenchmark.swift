/// The cost of an ale, a join and a leave as the numbers of connections and rooms grow. Rooms have two members, and
/// five rooms are busy.
enum GrowthBenchmark {
    static let id = "growth"
    private static let roomCounts = [1, 5, 50, 500, 5_000, 10_000]
    private static let busyRooms = 5
    /// The number of peers that join and leave in addition.
    private static let visitors = 2_000
    /// The message limit is off, because with few connections each peer exceeds the default rate.
    private static let flags = Laboratory.oneLoop + ["--message-rate", "0"]

    static func run(_ laboratory: Laboratory, _ report: inout Report) throws(BenchFailure) {
        let relay = try laboratory.relay()
        let daemon = try laboratory.daemon(flags: flags)
        let servers = [relay.server, daemon.server]
        let most = (laboratory.descriptors - visitors) / 2
        let sizes = roomCounts.map { min($0, most) }
        if let last = roomCounts.last, most < last {
            report.notes.append("Growth: \(Column.grouped(most)) rooms at most, since no more descriptors are allowed.")
        }
        var rows = GrowthRows(id: id)
        for size in sizes {
            let points = try servers.map { server throws(BenchFailure) in
                try measure(server, rooms: size, laboratory.options)
            }
            rows.add(rooms: size, floor: points[0], daemon: points[1])
        }
        for row in rows.judged { report.add(row) }
    }

    private static func measure(
        _ server: Server, rooms: Int, _ options: Options
    ) throws(BenchFailure) -> GrowthPoint {
        let crowd = Crowd(of: server, roomSize: 2, roomCount: rooms)
        try crowd.gather()
        try server.waitUntilIdle()
        var point = GrowthPoint()
        for _ in 0..<options.rounds {
            var load = try ClosedLoop(crowd, .oneMember(ales: 1))
            point.delivery.append(
                try load.run(warmUp: options.seconds / 5, seconds: options.seconds / 2, busyRooms: busyRooms))
            let others = Crowd(of: server, roomSize: 2, roomCount: visitors / 2)
            try server.waitUntilIdle()
            var watch = try Stopwatch(server)
            try others.gather()
            try server.waitUntilIdle()
            point.join.append(try watch.stop(work: others.peerCount))
            watch = try Stopwatch(server)
            others.disperse()
            try server.waitUntilIdle()
            point.leave.append(try watch.stop(work: visitors))
        }
        crowd.disperse()
        try server.waitUntilIdle()
        return point
    }
}
