/// The figures of one server with one number of rooms.
struct GrowthPoint {
    var delivery: [Sample] = []
    var join: [Sample] = []
    var leave: [Sample] = []
}

/// The table's rows for all numbers of rooms: an ale, a join and a leave, each compared with a smaller number.
struct GrowthRows {
    /// The prefix of the rows' ids.
    let id: String
    private var rows: [[Row]] = [[], [], []]

    init(id: String) {
        self.id = id
    }

    /// Adds the rows of the next number of rooms.
    mutating func add(rooms size: Int, floor: GrowthPoint, daemon: GrowthPoint) {
        let title = "\(Column.grouped(2 * size)) connections, \(Column.grouped(size)) rooms"
        let parts: [(String, KeyPath<GrowthPoint, [Sample]>)] = [
            ("delivery", \.delivery), ("join", \.join), ("leave", \.leave),
        ]
        for (index, (unit, path)) in parts.enumerated() {
            let (floor, own) = (floor[keyPath: path], daemon[keyPath: path])
            rows[index].append(
                Row(
                    id: "\(id)-\(unit)-\(size)", title: title, unit: unit, daemon: Figures(own),
                    baseline: Figures(floor), ratio: Row.ratio(of: own, to: floor)))
        }
    }

    /// The rows with their limits. The rows of ales come first.
    var judged: [Row] { rows.flatMap(Self.judge) }

    /// Compares each cost with the cost at ten connections. The kernel's caches also slow the relay, so their effect
    /// isn't counted as the daemon's.
    private static func judge(_ rows: [Row]) -> [Row] {
        rows.enumerated().map { index, row in
            guard index > 1 else { return row }
            var row = row
            let growth = row.daemon.cost / max(rows[1].daemon.cost, 1e-9)
            let floorGrowth = row.baseline.cost / max(rows[1].baseline.cost, 1e-9)
            row.wanted =
                "flat: ×\(Column.number(growth, decimals: 2)), floor ×\(Column.number(floorGrowth, decimals: 2))"
            row.isMet = growth <= 1.15 || growth <= 1.15 * floorGrowth
            return row
        }
    }
}
