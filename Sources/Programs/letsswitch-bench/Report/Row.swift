/// One line of the table: a workload, with the figures of the daemon and of the baseline.
struct Row: Encodable {
    let id: String
    let title: String
    let unit: String
    let daemon: Figures
    let baseline: Figures
    /// The name of the server that the daemon is compared with.
    var baselineName = "relay"
    /// The daemon's cost divided by the baseline's cost: the median of the rounds' ratios.
    let ratio: Double
    /// The limit, in words; empty if there is none.
    var wanted = ""
    /// Whether the limit is met; `nil` if there is none.
    var isMet: Bool?

    init(
        id: String, title: String, unit: String, daemon: Figures, baseline: Figures, ratio: Double,
        baselineName: String = "relay"
    ) {
        self.id = id
        self.title = title
        self.unit = unit
        self.daemon = daemon
        self.baseline = baseline
        self.baselineName = baselineName
        self.ratio = ratio
    }

    /// Returns the median of the rounds' ratios. The two samples of a round are close in time, so slow changes of the
    /// machine don't disturb the ratio.
    static func ratio(of daemon: [Sample], to baseline: [Sample]) -> Double {
        zip(daemon, baseline).map { $0.costPerUnit / max($1.costPerUnit, 1e-9) }.median
    }
}

/// The medians of one server's rounds.
struct Figures: Encodable {
    /// The server's CPU time in microseconds per unit, user and system together. For memory, the number of bytes per
    /// unit.
    var cost = 0.0
    /// The share of the cost in user mode, from 0 to 1.
    var userShare = 0.0
    /// Units per second.
    var rate = 0.0
    /// The generator's CPU time in microseconds per unit.
    var generatorCost = 0.0
    var p50 = 0.0
    var p99 = 0.0
    var p999 = 0.0

    init() {}

    init(_ samples: [Sample]) {
        cost = samples.map(\.costPerUnit).median
        userShare = samples.map { $0.user / max($0.user + $0.system, 0.01) }.median
        rate = samples.map { Double($0.work) / max($0.seconds, 1e-9) }.median
        generatorCost = samples.map { $0.generatorCPU * 1e6 / Double(max(1, $0.work)) }.median
        p50 = samples.map { $0.latency.microseconds(quantile: 0.5) }.median
        p99 = samples.map { $0.latency.microseconds(quantile: 0.99) }.median
        p999 = samples.map { $0.latency.microseconds(quantile: 0.999) }.median
    }
}

extension [Double] {
    /// Returns the middle value, or the mean of the two middle values; 0 if there are no values.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
