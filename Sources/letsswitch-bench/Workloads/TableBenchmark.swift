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
        for benchmark in [IdleBenchmark.self] where options.wants(benchmark.id) {
            try benchmark.run(laboratory, &report)
            progress(report.rows.last)
        }
        return report
    }

    private func measureWorkloads(_ report: inout Report) throws(BenchFailure) {
        let workloads = Workload.all.filter { options.wants($0.id) }
        guard !workloads.isEmpty else { return }
        let relay = try laboratory.relay()
        let daemon = try laboratory.daemon(flags: Self.daemonFlags)
        for workload in workloads {
            let run = WorkloadRun(workload: workload, options: options, servers: [relay.server, daemon.server])
            report.rows.append(Row(workload, try run.run()))
            progress(report.rows.last)
        }
    }

    private func progress(_ row: Row?) {
        guard let row else { return }
        Terminal.note(
            "\(row.title): \(Column.number(row.daemon.cost)), floor \(Column.number(row.baseline.cost)), "
                + "ratio \(Column.number(row.ratio, decimals: 2))")
    }
}
