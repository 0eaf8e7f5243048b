/// The results of several daemons on one database, compared with the baselines.
struct BusReport: Encodable {
    struct Row: Encodable {
        let id: String
        let title: String
        let floorName: String
        /// The figures at the highest throughput.
        let daemons: Figures
        let floor: Figures
        /// The medians of the rounds' ratios.
        let rateRatio: Double
        let costRatio: Double
        /// Latencies of deliveries between servers, in microseconds, at the same rate for both; 0 if not measured.
        private(set) var p50 = 0.0
        private(set) var p99 = 0.0
        private(set) var floorP50 = 0.0
        private(set) var floorP99 = 0.0
        /// The numbers of missing and surplus responses.
        var missing = 0
        var surplus = 0
        /// The number of ales that the daemons counted as lost or dropped.
        var lost = 0
        private(set) var wanted = ""
        private(set) var isMet: Bool?

        init(id: String, title: String, floorName: String, floor: [Sample], daemons: [Sample]) {
            (self.id, self.title, self.floorName) = (id, title, floorName)
            self.daemons = Figures(daemons)
            self.floor = Figures(floor)
            rateRatio = zip(daemons, floor).map { $0.rate / max($1.rate, 1e-9) }.median
            costRatio = zip(daemons, floor).map { $0.costPerUnit / max($1.costPerUnit, 1e-9) }.median
        }

        mutating func setWaits(floor: [Sample], daemons: [Sample]) {
            (floorP50, floorP99) = (Figures(floor).p50, Figures(floor).p99)
            (p50, p99) = (Figures(daemons).p50, Figures(daemons).p99)
        }

        /// Returns the row with limits. The rate must be at least `rate` times the baseline's rate. The CPU time must
        /// be at most `cost` times the baseline's, and the p99 at most `waits` times.
        func judged(rate: Double, cost: Double? = nil, waits: Double? = nil) -> Row {
            var row = self
            var requirements = ["rate ≥ \(Column.number(rate * 100, decimals: 0)) %"]
            var met = rateRatio >= rate
            if let cost {
                requirements.append("CPU ≤ \(Column.number(cost, decimals: 2))")
                met = met && costRatio <= cost
            }
            if let waits {
                requirements.append("p99 ≤ \(Column.number(waits, decimals: 0)) times")
                met = met && p99 <= waits * floorP99
            }
            row.wanted = requirements.joined(separator: ", ")
            row.isMet = met
            return row
        }
    }

    /// A description of the machine, made at the start of the run.
    let machine = Report.describeMachine()
    let arguments: [String]
    let rounds: Int
    let secondsPerRound: Double
    let seed: UInt64
    private(set) var rows: [Row] = []
    /// Notes for the reader, one sentence each.
    var notes: [String] = []

    init(_ options: Options) {
        arguments = Array(CommandLine.arguments.dropFirst())
        rounds = options.rounds
        secondsPerRound = options.seconds
        seed = options.seed
    }

    mutating func add(_ row: Row) {
        rows.append(row)
        Terminal.note(
            "\(row.title): \(Column.number(row.daemons.rate))/s, \(row.floorName) \(Column.number(row.floor.rate))/s, "
                + "p99 \(Column.number(row.p99)) µs and \(Column.number(row.floorP99)) µs")
    }

    private static let header = [
        "daemons", "deliveries/s", "floor", "%", "CPU", "floor", "ratio", "p50", "floor", "p99", "floor", "missing",
        "lost", "wanted",
    ]

    /// The table as text.
    func render() -> String {
        let lines = rows.map { row in
            [
                "\(row.title) (floor: \(row.floorName))", Column.number(row.daemons.rate, decimals: 0),
                Column.number(row.floor.rate, decimals: 0), Column.number(row.rateRatio * 100, decimals: 0),
                Column.number(row.daemons.cost), Column.number(row.floor.cost),
                Column.number(row.costRatio, decimals: 2), Self.time(row.p50), Self.time(row.floorP50),
                Self.time(row.p99), Self.time(row.floorP99), Column.grouped(row.missing), Column.grouped(row.lost),
                row.isMet.map { ($0 ? "yes: " : "NO: ") + row.wanted } ?? "",
            ]
        }
        return """
            \(machine)
            Deliveries a second: one ale in flight in each room. CPU: µs per delivery, of all servers or clients together, \
            PostgreSQL and RabbitMQ not counted. p50, p99: µs from an ale's due time to a peer on another daemon, at the same rate for all. missing: frames that \
            didn't come; lost: ales that the daemons counted as lost. Medians of \(rounds) rounds of \
            \(Column.number(secondsPerRound, decimals: 1)) s, in turn. Seed \(seed).

            \(Column.align([Self.header] + lines))
            \(notes.map { "\n" + $0 }.joined())
            """
    }

    private static func time(_ microseconds: Double) -> String { microseconds > 0 ? Column.number(microseconds) : "" }
}

extension Sample {
    /// Units of work per second.
    fileprivate var rate: Double { Double(work) / max(seconds, 1e-9) }
}
