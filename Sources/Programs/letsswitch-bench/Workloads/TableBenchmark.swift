/// Runs each workload on the relay and on the daemon, alternately.
struct TableBenchmark {
    let laboratory: Laboratory
    private var options: Options { laboratory.options }

    func run() throws(BenchFailure) -> Report {
        try laboratory.generatorProcessor.bind()
        var report = Report(options, daemonFlags: Laboratory.oneLoop + options.daemonFlags)
        if laboratory.serverProcessor == laboratory.generatorProcessor {
            report.notes.append("One processor for servers and generator: rates and latencies mean nothing.")
        }
        try measureWorkloads(&report)
        if options.wants(RefusalBenchmark.id) { try RefusalBenchmark.run(laboratory, &report) }
        if options.wants(IdleBenchmark.id) { try IdleBenchmark.run(laboratory, &report) }
        if options.wantsSome(of: CableBenchmark.id) { try CableBenchmark.run(laboratory, &report) }
        if options.wantsSome(of: LoopsBenchmark.id) { try LoopsBenchmark.run(laboratory, &report) }
        if options.wantsSome(of: GrowthBenchmark.id) { try GrowthBenchmark.run(laboratory, &report) }
        return report
    }

    private func measureWorkloads(_ report: inout Report) throws(BenchFailure) {
        let workloads = Workload.all.filter { options.wants($0.id) }
        guard !workloads.isEmpty else { return }
        let relay = try laboratory.relay()
        let daemon = try laboratory.daemon(flags: Laboratory.oneLoop)
        for workload in workloads {
            let run = WorkloadRun(workload: workload, options: options, servers: [relay.server, daemon.server])
            report.add(Row(workload, try run.run()))
        }
    }
}
