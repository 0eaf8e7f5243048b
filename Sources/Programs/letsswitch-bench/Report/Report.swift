import Glibc

/// The results of a benchmark run, and a description of the machine and the arguments.
struct Report: Encodable {
    let machine: String
    let arguments: [String]
    let daemonFlags: [String]
    let rounds: Int
    let secondsPerRound: Double
    private(set) var rows: [Row] = []
    /// Notes for the reader, one sentence each.
    var notes: [String] = []

    init(_ options: Options, daemonFlags: [String]) {
        machine = Self.describeMachine()
        arguments = Array(CommandLine.arguments.dropFirst())
        rounds = options.rounds
        secondsPerRound = options.seconds
        self.daemonFlags = daemonFlags
    }

    /// Adds a row, and prints it.
    mutating func add(_ row: Row) {
        rows.append(row)
        Terminal.note(
            "\(row.title): \(Column.number(row.daemon.cost)), floor \(Column.number(row.baseline.cost)), "
                + "ratio \(Column.number(row.ratio, decimals: 2))")
    }

    private static let header = [
        "workload", "unit", "daemon", "floor", "ratio", "user", "units/s", "p50", "p99", "generator", "wanted",
    ]

    /// The table as text.
    func render() -> String {
        let lines = rows.map { row in
            [
                row.title + (row.baselineName == "relay" ? "" : " (floor: \(row.baselineName))"), row.unit,
                Column.number(row.daemon.cost), Column.number(row.baseline.cost), Column.number(row.ratio, decimals: 2),
                Self.percent(row.daemon.userShare), Self.whole(row.daemon.rate), Self.time(row.daemon.p50),
                Self.time(row.daemon.p99), Self.time(row.daemon.generatorCost), Self.verdict(row),
            ]
        }
        return """
            \(machine)
            letsswitchd \(daemonFlags.joined(separator: " "))
            Daemon, floor, generator: CPU µs per unit, user and system (memory: bytes); p50, p99: µs. Medians of \(rounds) \
            rounds of \(Column.number(secondsPerRound, decimals: 1)) s, in turn.

            \(Column.align([Self.header] + lines))
            \(notes.map { "\n" + $0 }.joined())
            """
    }

    private static func percent(_ share: Double) -> String {
        share > 0 ? Column.number(share * 100, decimals: 0) + " %" : ""
    }
    private static func whole(_ number: Double) -> String { number > 0 ? Column.number(number, decimals: 0) : "" }
    private static func time(_ microseconds: Double) -> String { microseconds > 0 ? Column.number(microseconds) : "" }
    private static func verdict(_ row: Row) -> String {
        guard let isMet = row.isMet else { return "" }
        return (isMet ? "yes: " : "NO: ") + row.wanted
    }

    /// Returns a description of the machine.
    static func describeMachine() -> String {
        let cpu =
            (ProcText.read("/proc/cpuinfo") ?? "").split(separator: "\n")
            .first { $0.hasPrefix("model name") }?.split(separator: ":").last.map { $0.trimmingPrefix(" ") }
            ?? "unknown"
        let kernel = (ProcText.read("/proc/sys/kernel/osrelease") ?? "").split(separator: "\n").first ?? ""
        let load = (ProcText.read("/proc/loadavg") ?? "").split(separator: " ").first ?? "?"
        return "\(sysconf(Int32(_SC_NPROCESSORS_ONLN))) × \(cpu), Linux \(kernel), load average \(load)"
    }
}
