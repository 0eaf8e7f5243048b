/// Compares several daemons on one database with one daemon, with bare clients of the bus, and with relays that only
/// forward ales by NOTIFY.
struct BusBenchmark {
    private static let daemonCounts = [1, 2, 3]

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
            try BusCrossing(laboratory: laboratory, engine: .notify, count: count).run(&report)
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
            try BusCrossing(laboratory: laboratory, engine: .broker(broker), count: count).run(&report)
        }
    }

    // MARK: Rooms with peers on one daemon

    /// Measures the overhead of a second daemon when all peers are on the first one.
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
}
