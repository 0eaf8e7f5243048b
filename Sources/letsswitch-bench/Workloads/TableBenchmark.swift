import Glibc

/// The table: every workload, the relay and the daemon in turn.
struct TableBenchmark {
    static let daemonFlags = ["--loops", "1", "--open-rooms"]

    let laboratory: Laboratory
    private var options: Options { laboratory.options }

    func run() throws(BenchFailure) -> Report {
        try laboratory.generatorProcessor.bind()
        var report = Report(options, daemonFlags: Self.daemonFlags + options.daemonFlags)
        if laboratory.serverProcessor == laboratory.generatorProcessor {
            report.notes.append("One processor for servers and generator: rates and latencies mean nothing.")
        }
        try measureWorkloads(&report)
        if options.wants(RefusalBenchmark.id) { try add(&report, RefusalBenchmark.run) }
        if options.wants(IdleBenchmark.id) { try add(&report, IdleBenchmark.run) }
        if options.wantsSome(of: CableBenchmark.id) { try add(&report, CableBenchmark.run) }
        if options.wantsSome(of: LoopsBenchmark.id) { try add(&report, LoopsBenchmark.run) }
        if options.wantsSome(of: GrowthBenchmark.id) { try add(&report, GrowthBenchmark.run) }
        return report
    }

    private func add(
        _ report: inout Report, _ benchmark: (Laboratory, inout Report) throws(BenchFailure) -> Void
    ) throws(BenchFailure) {
        let before = report.rows.count
        try benchmark(laboratory, &report)
        for row in report.rows[before...] { progress(row) }
    }

    private func measureWorkloads(_ report: inout Report) throws(BenchFailure) {
        let workloads = Workload.all.filter { options.wants($0.id) }
        guard !workloads.isEmpty else { return }
        let relay = try laboratory.relay()
        let daemon = try laboratory.daemon(flags: Self.daemonFlags)
        for workload in workloads {
            let run = WorkloadRun(workload: workload, options: options, servers: [relay.server, daemon.server])
            let row = Row(workload, try run.run())
            report.rows.append(row)
            progress(row)
        }
    }

    private func progress(_ row: Row) {
        Terminal.note(
            "\(row.title): \(Column.number(row.daemon.cost)), floor \(Column.number(row.baseline.cost)), "
                + "ratio \(Column.number(row.ratio, decimals: 2))")
    }
}
