import Glibc

/// The cost of idle Action Cable connections. Their memory is compared with that of plain WebSockets. The CPU time of a
/// ping to each connection every three seconds is compared with a relay that only sends pings.
enum CableBenchmark {
    static let id = "cable"
    private static let (idleID, pingsID) = ("cable-idle", "cable-pings")
    /// The maximum number of bytes in addition to those of a plain WebSocket.
    private static let mostMemory = 1_536.0
    private static let mostCPU = 1.15
    private static let pingInterval = 3

    static func run(_ laboratory: Laboratory, _ report: inout Report) throws(BenchFailure) {
        if laboratory.options.wants(idleID) {
            report.add(try idle(laboratory, count(laboratory, crowds: 1, idleID, &report)))
        }
        if laboratory.options.wants(pingsID) {
            // The relay's connections are open at the same time as the daemon's.
            report.add(try pings(laboratory, count(laboratory, crowds: 2, pingsID, &report)))
        }
    }

    /// The number of connections to each server.
    private static func count(_ laboratory: Laboratory, crowds: Int, _ row: String, _ report: inout Report) -> Int {
        guard !laboratory.options.isQuick else { return 400 }
        let count = min(10_000, laboratory.descriptors / crowds - 500) / 2 * 2
        if count < 10_000 {
            report.notes.append("\(row): \(count) connections, since no more descriptors are allowed.")
        }
        return count
    }

    private static func idle(_ laboratory: Laboratory, _ count: Int) throws(BenchFailure) -> Row {
        let plain = try laboratory.daemon(flags: Laboratory.oneLoop)
        let crowd = Crowd(of: plain.server, roomSize: 2, roomCount: count / 2)
        let floor = try IdleBenchmark.measure(plain.server, peers: count) { upTo throws(BenchFailure) in
            try crowd.gather(upTo: upTo)
        }
        crowd.disperse()
        plain.process.stop()
        let daemon = try laboratory.daemon(flags: Laboratory.oneLoop)
        let cables = CableCrowd(of: daemon.server)
        let own = try IdleBenchmark.measure(daemon.server, peers: count) { upTo throws(BenchFailure) in
            try cables.gather(upTo: upTo)
        }
        daemon.process.stop()
        var row = Row(
            id: idleID, title: "idle on /cable, \(Column.grouped(count)) open (floor: plain WebSockets)",
            unit: "bytes/connection", daemon: own, baseline: floor, ratio: own.cost / max(1, floor.cost),
            baselineName: "plain")
        row.wanted = "≤ floor + 1,536"
        row.isMet = own.cost <= floor.cost + mostMemory
        return row
    }

    /// Measures both servers at the same time, so that disturbances affect both. The CPU time that a server uses
    /// without connections, for the database and the clock, is subtracted.
    private static func pings(_ laboratory: Laboratory, _ count: Int) throws(BenchFailure) -> Row {
        let relay = try laboratory.relay(pings: true)
        // Turns off the WebSockets' own pings, which are different from Action Cable's.
        let daemon = try laboratory.daemon(flags: Laboratory.oneLoop + ["--ping-interval", "1h"])
        let meters = [try ProcessMeter(pid: relay.server.pid), try ProcessMeter(pid: daemon.server.pid)]
        let seconds = laboratory.options.isQuick ? pingInterval : 10 * pingInterval
        let rest = try cpu(of: meters, for: seconds)
        let crowd = Crowd(of: relay.server, roomSize: 2, roomCount: count / 2)
        try crowd.gather()
        let cables = CableCrowd(of: daemon.server)
        try cables.gather(upTo: count)
        let sockets = [(0..<count).map { crowd.sockets[$0] }, cables.sockets]
        for sockets in sockets { _ = LoadSocket.drain(sockets) }
        let used = try cpu(of: meters, for: seconds)
        var figures: [Figures] = []
        for (index, sockets) in sockets.enumerated() {
            let sent = Double(LoadSocket.drain(sockets)) / Double(LoadFrame.cablePing.count)
            var own = Figures()
            own.cost = max(0, used[index] - rest[index]) * 1e6 / max(1, sent)
            own.rate = sent / Double(seconds)
            figures.append(own)
        }
        relay.process.stop()
        daemon.process.stop()
        var row = Row(
            id: pingsID, title: "pings on /cable, \(Column.grouped(count)) open", unit: "ping", daemon: figures[1],
            baseline: figures[0], ratio: figures[1].cost / max(figures[0].cost, 1e-9))
        row.wanted = "ratio ≤ 1.15"
        row.isMet = row.ratio <= mostCPU
        return row
    }

    /// The CPU seconds that each process uses in `seconds`.
    private static func cpu(of meters: [ProcessMeter], for seconds: Int) throws(BenchFailure) -> [Double] {
        var used: [Double] = []
        for meter in meters { used.append(-(try meter.cpu())) }
        for _ in 0..<seconds { usleep(1_000_000) }
        for (index, meter) in meters.enumerated() { used[index] += try meter.cpu() }
        return used
    }
}
