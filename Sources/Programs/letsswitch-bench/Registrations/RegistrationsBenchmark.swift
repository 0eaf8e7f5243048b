import Basics
import Glibc

/// `POST /task` and `GET /schedule` over 32 connections that stay open, compared with the same statements from
/// pgbench's 32 clients. Rounds of both alternate on the same cluster. The cluster's commits are durable.
///
/// Registrations go to random slots of the next eighty days, because registrations of one slot run one at a time.
struct RegistrationsBenchmark {
    private static let days = 1...80
    private static let hours = 8...23
    private static let connections = PgBench.clients

    let laboratory: Laboratory
    private var options: Options { laboratory.options }

    func run() throws(BenchFailure) -> Findings {
        let daemon = try laboratory.daemon(flags: [], on: laboratory.processors)
        let pgbench = PgBench(laboratory)
        let midnight = Int(time(nil)) / WallClock.day * WallClock.day
        var findings = Findings(
            "Requests over \(Self.connections) kept connections beside pgbench's prepared statements")
        var devices = 0
        try compare("POST /task", &findings) { seconds throws(BenchFailure) in
            try pgbench.run(Self.register(midnight), seconds: seconds)
        } daemon: { seconds throws(BenchFailure) in
            var load = try RequestLoad(daemon.server, connections: Self.connections) { _ in
                devices += 1
                let day = midnight + Int.random(in: Self.days) * WallClock.day
                return LoadRequest.task(
                    device: "bench-\(devices)", startsAt: day + Int.random(in: Self.hours) * 3_600)
            }
            return try load.run(warmUp: seconds / 5, seconds: seconds)
        }
        let known = devices
        try compare("GET /schedule", &findings) { seconds throws(BenchFailure) in
            try pgbench.run(Self.day(midnight, devices: known), seconds: seconds)
        } daemon: { seconds throws(BenchFailure) in
            var load = try RequestLoad(daemon.server, connections: Self.connections) { _ in
                let date = CivilDate(days: midnight / WallClock.day + Int.random(in: Self.days))
                let device = Int.random(in: 1...known)
                return LoadRequest.get("/schedule?deviceId=bench-\(device)&date=\(date)&timeZone=UTC")
            }
            return try load.run(warmUp: seconds / 5, seconds: seconds)
        }
        return findings
    }

    private func compare(
        _ request: String, _ findings: inout Findings,
        pgbench: (Double) throws(BenchFailure) -> Sample, daemon: (Double) throws(BenchFailure) -> Sample
    ) throws(BenchFailure) {
        let seconds = max(1, options.seconds)
        var samples: (floor: [Sample], own: [Sample]) = ([], [])
        for _ in 0..<options.rounds {
            samples.floor.append(try pgbench(seconds))
            samples.own.append(try daemon(seconds))
        }
        let floor = PgBenchFloor(samples.floor)
        let base = floor.figures
        let (figures, rate) = floor.compare(request, samples.own)
        findings.add("\(request): pgbench", base.rate, "/s")
        findings.add("\(request): letsswitchd", figures.rate, "/s")
        findings.add("\(request): rate, of pgbench's", rate * 100, "%", atLeast: 70)
        findings.add("\(request): p50, pgbench", base.p50 / 1e3, "ms")
        findings.add("\(request): p50, letsswitchd", figures.p50 / 1e3, "ms")
        findings.add("\(request): p99, pgbench", base.p99 / 1e3, "ms")
        findings.add("\(request): p99, letsswitchd", figures.p99 / 1e3, "ms")
        findings.add("\(request): p99, times pgbench's", figures.p99 / max(base.p99, 1e-9), "", atMost: 2)
        findings.add("\(request): CPU of letsswitchd", figures.cost, "µs")
    }

    private static func register(_ midnight: Int) -> String {
        """
        \\set device random(1, 9000000000000000000)
        \\set day random(\(days.lowerBound), \(days.upperBound))
        \\set hour random(\(hours.lowerBound), \(hours.upperBound))
        \\set startsat \(midnight) + :day * \(WallClock.day) + :hour * 3600
        SELECT * FROM schedule.register_task('pgbench-' || :device::bigint, 'History', 'UTC', :startsat, NULL, NULL, \
        NULL, 60, 7776000, 3600);

        """
    }

    private static func day(_ midnight: Int, devices: Int) -> String {
        """
        \\set device random(1, \(devices))
        \\set day \(midnight / WallClock.day) + random(\(days.lowerBound), \(days.upperBound))
        SELECT * FROM schedule.day_schedule('bench-' || :device::bigint, 'UTC', NULL, :day, true);

        """
    }
}
