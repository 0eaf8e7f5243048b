import Glibc

/// The memory of an idle connection in the server.
enum IdleBenchmark {
    static let id = "idle"
    /// The number of peers that connect first, so that one-time allocations aren't counted.
    private static let firstPeers = 200

    static func run(_ laboratory: Laboratory, _ report: inout Report) throws(BenchFailure) {
        let peers = min(19_000, laboratory.descriptors) / 2 * 2
        let count = laboratory.options.isQuick ? 1_000 : peers
        if peers < 19_000 {
            report.notes.append("Idle: \(peers) connections, since no more descriptors are allowed.")
        }
        let relay = try laboratory.relay()
        let floor = try measure(relay.server, peers: count, laboratory.options)
        relay.process.stop()
        let daemon = try laboratory.daemon(flags: Laboratory.oneLoop)
        let atRest = try ProcessMeter(pid: daemon.server.pid).residentBytes()
        let own = try measure(daemon.server, peers: count, laboratory.options)
        daemon.process.stop()
        report.notes.append(
            """
            The daemon before its first connection: \(Column.number(Double(atRest) / 1e6, decimals: 1)) MB resident; \
            \(Column.number(daemon.secondsToStart, decimals: 2)) s from its start to the line that says where it listens.
            """)
        var row = Row(
            id: id, title: "idle, \(Column.grouped(count)) open, two a room", unit: "bytes/connection",
            daemon: own, baseline: floor, ratio: own.cost / max(1, floor.cost))
        row.wanted = "≤ 500"
        row.isMet = own.cost <= 500
        report.add(row)
    }

    private static func measure(
        _ server: Server, peers: Int, _ options: Options
    ) throws(BenchFailure) -> Figures {
        let crowd = Crowd(
            of: server, roomSize: 2, roomCount: peers / 2, offersCompression: options.offersCompression)
        return try measure(server, peers: peers) { upTo throws(BenchFailure) in try crowd.gather(upTo: upTo) }
    }

    /// - Parameter gather: Connects further peers until `upTo` connections are open.
    static func measure(
        _ server: Server, peers: Int, gather: (_ upTo: Int) throws(BenchFailure) -> Void
    ) throws(BenchFailure) -> Figures {
        let meter = try ProcessMeter(pid: server.pid)
        try gather(firstPeers)
        try meter.waitUntilIdle()
        let before = try meter.anonymousBytes()
        try gather(peers)
        try meter.waitUntilIdle()
        var figures = Figures()
        figures.cost = Double(try meter.anonymousBytes() - before) / Double(peers - firstPeers)
        return figures
    }
}
