/// One line of the table: a workload, what the daemon needed for it and what the baseline did.
struct Row: Encodable {
    let id: String
    let title: String
    let unit: String
    let daemon: Figures
    let baseline: Figures
    /// `relay`, or what else the daemon is compared with.
    var baselineName = "relay"
    /// The daemon's cost over the baseline's: the median of the rounds' ratios.
    let ratio: Double
    /// What was to be reached, in words; empty where nothing was.
    var wanted = ""
    /// `nil` where nothing was to be reached.
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

    /// Of the samples of baseline and daemon, in this order.
    init(_ workload: Workload, _ samples: [[Sample]]) {
        self.init(
            id: workload.id, title: workload.title, unit: workload.unit, daemon: Figures(samples[1]),
            baseline: Figures(samples[0]), ratio: Self.ratio(of: samples[1], to: samples[0]))
        judge(workload.bound)
    }

    /// Round by round, so that only what changes within a round disturbs it.
    static func ratio(of daemon: [Sample], to baseline: [Sample]) -> Double {
        zip(daemon, baseline).map { $0.costPerUnit / max($1.costPerUnit, 1e-9) }.median
    }

    private mutating func judge(_ bound: Workload.Bound) {
        var wishes: [String] = []
        var met: [Bool] = []
        if let cost = bound.cost {
            wishes.append("≤ \(Column.number(cost))")
            met.append(daemon.cost <= cost)
        }
        if let limit = bound.ratio {
            wishes.append("ratio ≤ \(Column.number(limit, decimals: 2))")
            met.append(ratio <= limit)
        }
        if let latency = bound.latency {
            wishes.append("p50/p99 ≤ \(Column.number(latency.p50))/\(Column.number(latency.p99))")
            met.append(daemon.p50 <= latency.p50 && daemon.p99 <= latency.p99)
        }
        wanted = wishes.joined(separator: " or ")
        isMet = met.isEmpty ? nil : met.contains(true)
    }
}
