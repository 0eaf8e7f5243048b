import Glibc

/// Compares two event loops with one, on all processors. Shows the overhead of the second loop.
enum LoopsBenchmark {
    static let id = "loops"

    private static let cases: [(id: String, title: String, roomSize: Int, pattern: ClosedLoop.Pattern)] = [
        ("loops-ale-2", "two loops, one ale in flight, K = 2", 2, .oneMember(ales: 1)),
        ("loops-ale-10", "two loops, one ale in flight, K = 10", 10, .oneMember(ales: 1)),
        ("loops-burst-10", "two loops, 8 ales in flight, K = 10", 10, .oneMember(ales: 8)),
    ]

    static func run(_ laboratory: Laboratory, _ report: inout Report) throws(BenchFailure) {
        let all = laboratory.processors
        try all.bind()
        let one = try laboratory.daemon(name: "one-loop", flags: ["--loops", "1", "--open-rooms"], on: all)
        let two = try laboratory.daemon(name: "two-loops", flags: ["--loops", "2", "--open-rooms"], on: all)
        let servers = [one.server, two.server]
        for entry in cases where laboratory.options.wants(entry.id) {
            let workload = Workload(
                id: entry.id, title: entry.title, unit: "delivery",
                kind: .fanOut(roomSize: entry.roomSize, rooms: 1_000 / entry.roomSize, entry.pattern))
            let before = try ThreadTimes(pid: two.server.pid)
            let run = WorkloadRun(workload: workload, options: laboratory.options, servers: servers)
            var row = Row(workload, try run.run())
            let busiest = try ThreadTimes(pid: two.server.pid).shares(since: before).prefix(2)
            report.notes.append(
                "\(entry.title): the busiest threads did "
                    + busiest.map { Column.number($0 * 100, decimals: 0) + " %" }.joined(separator: " and ")
                    + " of the daemon's work.")
            row.baselineName = "one loop"
            row.wanted = "ratio ≤ 1.10"
            row.isMet = row.ratio <= 1.1
            report.add(row)
        }
        try laboratory.generatorProcessor.bind()
    }
}
