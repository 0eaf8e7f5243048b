/// A workload: its load, the unit of its cost, and its limits.
struct Workload {
    enum Kind {
        /// A closed loop with `rooms` rooms of `roomSize` members. All rooms are busy.
        case fanOut(roomSize: Int, rooms: Int, ClosedLoop.Pattern)
        /// An open loop with `rate` ales per second.
        case steady(roomSize: Int, rooms: Int, rate: Double)
        /// Peers that connect, upgrade and stay.
        case arrivals(peers: Int)
        /// Peers that connect, upgrade, send an ale and leave. `places` peers are connected at the same time.
        case visitors(places: Int)
        /// Requests over connections that stay open.
        case requests(path: String, connections: Int)
    }

    /// The limits of a workload's result. The result passes if it meets at least one of them. The cost and the latency
    /// depend on the machine. The ratio to the relay's cost hardly does.
    struct Bound {
        /// The CPU time in microseconds per unit; `nil` if only the ratio counts.
        var cost: Double?
        /// The daemon's cost divided by the relay's cost.
        var ratio: Double?
        /// The median and the 99th percentile of the latency, in microseconds.
        var latency: (p50: Double, p99: Double)?
    }

    /// The name that `--only` selects.
    let id: String
    let title: String
    let unit: String
    let kind: Kind
    var bound = Bound()

    /// All workloads, in the order of the printed table. They use a thousand connections unless the room's size needs a
    /// different number.
    static let all: [Workload] = [
        fanOut(2, .oneMember(ales: 1), cost: 5.2),
        fanOut(10, .oneMember(ales: 1), cost: 3.0),
        fanOut(100, .oneMember(ales: 1), cost: 2.7),
        fanOut(1_000, .oneMember(ales: 1), cost: 3.4),
        fanOut(10, .oneMember(ales: 8), cost: 0.48),
        fanOut(100, .oneMember(ales: 8), cost: 0.35),
        fanOut(10, .everyMember, cost: 0.45),
        Workload(
            id: "steady-10", title: "5,000 ales/s, K = 10", unit: "delivery",
            kind: .steady(roomSize: 10, rooms: 100, rate: 5_000), bound: Bound(latency: (33, 73))),
        Workload(
            id: "upgrade", title: "connect + upgrade", unit: "connection", kind: .arrivals(peers: 8_000),
            bound: Bound(cost: 12, ratio: 1.25)),
        Workload(
            id: "visit", title: "connect, upgrade, ale, close", unit: "connection", kind: .visitors(places: 64),
            bound: Bound(cost: 22, ratio: 1.25)),
        Workload(
            id: "healthz", title: "GET /healthz, kept alive", unit: "request",
            kind: .requests(path: "/healthz", connections: 64), bound: Bound(cost: 6)),
    ]

    private static func fanOut(_ size: Int, _ pattern: ClosedLoop.Pattern, cost: Double) -> Workload {
        let (id, title) =
            switch pattern {
            case .oneMember(ales: 1): ("ale", "one ale in flight")
            case .oneMember(let ales): ("burst", "\(ales) ales in flight")
            case .everyMember: ("every", "every member sends")
            }
        return Workload(
            id: "\(id)-\(size)", title: "\(title), K = \(size)", unit: "delivery",
            kind: .fanOut(roomSize: size, rooms: max(1, 1_000 / size), pattern),
            bound: Bound(cost: cost, ratio: 1.10))
    }
}

extension Row {
    /// - Parameter samples: The samples of the baseline, and then those of the daemon.
    init(_ workload: Workload, _ samples: [[Sample]]) {
        self.init(
            id: workload.id, title: workload.title, unit: workload.unit, daemon: Figures(samples[1]),
            baseline: Figures(samples[0]), ratio: Self.ratio(of: samples[1], to: samples[0]))
        judge(workload.bound)
    }

    private mutating func judge(_ bound: Workload.Bound) {
        var requirements: [String] = []
        var met: [Bool] = []
        if let cost = bound.cost {
            requirements.append("≤ \(Column.number(cost))")
            met.append(daemon.cost <= cost)
        }
        if let limit = bound.ratio {
            requirements.append("ratio ≤ \(Column.number(limit, decimals: 2))")
            met.append(ratio <= limit)
        }
        if let latency = bound.latency {
            requirements.append("p50/p99 ≤ \(Column.number(latency.p50))/\(Column.number(latency.p99))")
            met.append(daemon.p50 <= latency.p50 && daemon.p99 <= latency.p99)
        }
        wanted = requirements.joined(separator: " or ")
        isMet = met.isEmpty ? nil : met.contains(true)
    }
}
