import FoundationEssentials
import Glibc

/// Runs `pgbench` on the same cluster. Many clients run one prepared statement.
struct PgBench {
    static let clients = 32

    private let conninfo: String
    private let directory: String
    private let processors: Processors

    /// Uses the run's database, and the planner settings of the daemon's sessions.
    init(_ laboratory: Laboratory) {
        conninfo = "\(laboratory.conninfo) \(PlannerSettings.option)"
        directory = laboratory.directory
        processors = laboratory.processors
    }

    /// Runs a script for `seconds`, or longer if pgbench completes no transaction in that time. The time includes the
    /// opening of the connections, which can take seconds on a busy machine.
    ///
    /// - Returns: The number of transactions, the total time, and the time of each transaction. The CPU time is
    ///   unknown, because several processes do the work.
    func run(_ script: String, seconds: Double) throws(BenchFailure) -> Sample {
        var wholeSeconds = max(1, Int(seconds.rounded()))
        while true {
            if let sample = try run(script, wholeSeconds: wholeSeconds) { return sample }
            guard wholeSeconds < 60 else { throw BenchFailure("pgbench completes no transaction in \(wholeSeconds) s") }
            wholeSeconds *= 4
        }
    }

    /// - Returns: `nil` if no transaction was completed.
    private func run(_ script: String, wholeSeconds: Int) throws(BenchFailure) -> Sample? {
        let file = "\(directory)/pgbench.sql"
        let prefix = "\(directory)/pgbench-log"
        do {
            try script.write(toFile: file, atomically: false, encoding: .utf8)
        } catch {
            throw BenchFailure("\(file): \(error)")
        }
        defer { Self.remove(prefix, in: directory) }
        let process = try ServerProcess(
            [
                try Self.program(), "--no-vacuum", "--protocol=prepared", "--client=\(Self.clients)", "--jobs=1",
                "--time=\(wholeSeconds)", "--file=\(file)", "--log", "--log-prefix=\(prefix)",
                conninfo,
            ], on: processors, output: "\(directory)/pgbench.out")
        let patience = ContinuousClock.now + .seconds(wholeSeconds + 60)
        while process.isRunning() {
            guard ContinuousClock.now < patience else { throw BenchFailure("pgbench doesn't end") }
            usleep(20_000)
        }
        let output = process.written()
        if output.contains("number of transactions actually processed: 0\n") { return nil }
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
            let rate = line.dropFirst("tps = ".count).split(separator: " ").first.flatMap({ Double($0) }), rate > 0
        else { throw BenchFailure("pgbench: \(output)") }
        var sample = Sample()
        for name in Self.logs(prefix, in: directory) {
            for line in (ProcText.read("\(directory)/\(name)") ?? "").split(separator: "\n") {
                // The columns are client, transaction, microseconds, …
                guard let wait = line.split(separator: " ").dropFirst(2).first.flatMap({ UInt64($0) }) else { continue }
                sample.latency.add(nanoseconds: wait * 1_000)
            }
        }
        guard sample.latency.count > 0 else { throw BenchFailure("pgbench wrote no log: \(output)") }
        sample.work = sample.latency.count
        sample.seconds = Double(sample.work) / rate
        return sample
    }

    private static func program() throws(BenchFailure) -> String {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let places = versions.compactMap { Int($0) }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
        for place in places + ["/usr/bin", "/usr/local/bin"] where access("\(place)/pgbench", X_OK) == 0 {
            return "\(place)/pgbench"
        }
        throw BenchFailure("pgbench is not installed: apt-get install postgresql")
    }

    private static func logs(_ prefix: String, in directory: String) -> [String] {
        let name = prefix.split(separator: "/").last ?? ""
        return ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).filter { $0.hasPrefix(name) }
    }

    private static func remove(_ prefix: String, in directory: String) {
        for name in logs(prefix, in: directory) { unlink("\(directory)/\(name)") }
    }
}
