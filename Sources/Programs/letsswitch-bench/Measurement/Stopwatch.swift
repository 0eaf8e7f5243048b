import Basics
import Glibc

/// A server under test: a child process, and the port that it listens on.
struct Server {
    let name: String
    let pid: pid_t
    let port: UInt16

    /// See ``ProcessMeter/waitUntilIdle()``.
    func waitUntilIdle() throws(BenchFailure) { try ProcessMeter(pid: pid).waitUntilIdle() }
}

/// The result of one round of a workload on one server.
struct Sample {
    /// The number of units of work done: deliveries, requests or connections.
    var work = 0
    var seconds = 0.0
    /// The CPU seconds of the server.
    var serverCPU = 0.0
    /// The CPU seconds of the generator.
    var generatorCPU = 0.0
    /// The server's CPU time by `/proc/<pid>/stat` in seconds, in steps of a hundredth of a second.
    var user = 0.0
    var system = 0.0
    var latency = LatencyHistogram()

    /// The server's CPU time in microseconds per unit of work.
    var costPerUnit: Double { work > 0 ? serverCPU * 1e6 / Double(work) : 0 }
}

/// Measures from its creation to ``stop(work:)``: the time, the CPU time of all servers together, and the CPU time of
/// this process.
struct Stopwatch {
    private let servers: [ProcessMeter]
    private let own: ProcessMeter
    private let start: MonotonicTime
    private let serverCPU: Double
    private let ownCPU: Double
    private let stat: (user: Double, system: Double)

    init(_ server: Server) throws(BenchFailure) {
        try self.init([server])
    }

    init(_ servers: [Server]) throws(BenchFailure) {
        var meters: [ProcessMeter] = []
        for server in servers { meters.append(try ProcessMeter(pid: server.pid)) }
        self.servers = meters
        own = try ProcessMeter.own()
        stat = try Self.stat(of: meters)
        ownCPU = try own.cpu()
        serverCPU = try Self.cpu(of: meters)
        start = .now()
    }

    private static func cpu(of meters: [ProcessMeter]) throws(BenchFailure) -> Double {
        var sum = 0.0
        for meter in meters { sum += try meter.cpu() }
        return sum
    }

    private static func stat(of meters: [ProcessMeter]) throws(BenchFailure) -> (user: Double, system: Double) {
        var sum = (user: 0.0, system: 0.0)
        for meter in meters {
            let stat = try meter.stat()
            sum = (sum.user + stat.user, sum.system + stat.system)
        }
        return sum
    }

    /// - Throws: If the two readings of the CPU time disagree.
    func stop(work: Int) throws(BenchFailure) -> Sample {
        var sample = Sample()
        sample.serverCPU = try Self.cpu(of: servers) - serverCPU
        sample.seconds = (MonotonicTime.now() - start) / .seconds(1)
        sample.generatorCPU = try own.cpu() - ownCPU
        sample.work = work
        let now = try Self.stat(of: servers)
        (sample.user, sample.system) = (now.user - stat.user, now.system - stat.system)
        // Each reading is rounded to hundredths of a second, at the start and at the end, for user and for system time.
        let tolerance = 0.045 * Double(servers.count) + 0.02 * sample.serverCPU
        guard abs(sample.user + sample.system - sample.serverCPU) < tolerance else {
            throw BenchFailure(
                "/proc/<pid>/stat says \(sample.user + sample.system) s of CPU, the CPU clock \(sample.serverCPU)")
        }
        return sample
    }
}
