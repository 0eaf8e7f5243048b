import Glibc
import Postgres

/// The load at a full hour. 8,000 matches are due at the same second, while 1,500 people listen for reminders. Then all
/// people connect.
struct HourBenchmark {
    private static let matches = 8_000
    private static let streams = 1_500
    private static let device = "bench-"
    /// The time between reminder and start in seconds, which is the daemon's default.
    private static let lead = 60
    /// The estimated time in seconds from the last registration until the reminders are due. The streams connect during
    /// this time.
    private static let pause = 4.0
    /// The number of registrations per transaction. Over HTTP each registration would have its own transaction, and
    /// registrations of one slot run one at a time.
    private static let registrationsPerStatement = 400
    /// The time limit of each statement.
    private static let timeout = Duration.seconds(30)

    let laboratory: Laboratory

    func run() throws -> Findings {
        let isQuick = laboratory.options.isQuick
        let matches = isQuick ? 100 : min(Self.matches, (laboratory.descriptors - Self.streams) / 2)
        let streams = isQuick ? 50 : Self.streams
        let daemon = try laboratory.daemon(flags: [], on: laboratory.processors)
        let due = Int(WallClock.now() + (try secondsToRegister(people: 2 * matches)) + Self.pause)
        try register(0..<(2 * matches), startsAt: due + Self.lead)
        var audience = try ReminderAudience(
            daemon.server, devices: (0..<streams).map { "\(Self.device)\($0)" }, rooms: matches, reminders: 2 * matches)
        guard Double(due) - WallClock.now() > 0.5 else {
            throw BenchFailure("connecting the streams took longer than \(Self.pause) s")
        }
        Terminal.note("registered; due in \(Column.number(Double(due) - WallClock.now(), decimals: 1)) s")

        var findings = Findings("\(Column.grouped(matches)) matches due at the same second")
        let meter = try ProcessMeter(pid: daemon.server.pid)
        let before = try meter.cpu()
        let outcome = try audience.listen(from: Double(due), for: isQuick ? 2 : 5)
        findings.add("rooms open", outcome.rooms, exactly: matches)
        findings.add("reminders written", outcome.reminders, exactly: 2 * matches)
        findings.add("reminders on \(Column.grouped(streams)) streams", outcome.waits.count, exactly: streams)
        findings.add("all rooms open", outcome.roomsOpenAfter * 1e3, "ms", atMost: 1_000)
        findings.add("all reminders written", outcome.remindersWrittenAfter * 1e3, "ms", atMost: 1_000)
        findings.add("reminder on its stream, p50", outcome.waits.microseconds(quantile: 0.5) / 1e3, "ms")
        findings.add(
            "reminder on its stream, p99", outcome.waits.microseconds(quantile: 0.99) / 1e3, "ms", atMost: 1_000)
        findings.add("CPU of letsswitchd for that", (try meter.cpu() - before) * 1e3, "ms")
        try checkDatabase(matches, due: due, &findings)

        let rooms = try matchedRooms(startsAt: due + Self.lead)
        guard rooms.count == matches else { throw BenchFailure("\(rooms.count) matches instead of \(matches)") }
        var crowd = try RushHour(daemon.server, rooms: rooms)
        let rush = try crowd.run()
        findings.add("people connected", rush.connected, exactly: 2 * matches)
        findings.add("all of them within", rush.seconds, "s", atMost: 5)
        findings.add("connect + upgrade, p99", rush.connects.microseconds(quantile: 0.99) / 1e3, "ms")
        findings.add("ales meanwhile", Double(rush.ales.count), "")
        findings.add("ale, p50", rush.ales.microseconds(quantile: 0.5) / 1e3, "ms")
        findings.add("ale, p99", rush.ales.microseconds(quantile: 0.99) / 1e3, "ms", atMost: 50)
        findings.add("ale, the slowest", rush.ales.microseconds(quantile: 1) / 1e3, "ms")
        findings.add("ales not arrived exactly once", rush.miscounted, exactly: 0)
        findings.add("CPU of letsswitchd for that", rush.serverCPU * 1e3, "ms")
        return findings
    }

    /// Returns an estimate: twice the time of a sample of registrations, which use a different slot a month later.
    private func secondsToRegister(people: Int) throws -> Double {
        let start = WallClock.now()
        let sample = Self.registrationsPerStatement
        try register(people..<(people + sample), startsAt: Int(start) + 30 * WallClock.day)
        return (WallClock.now() - start) * 2 * Double(people) / Double(sample)
    }

    /// Registers tasks with the statement that the daemon uses.
    private func register(_ people: Range<Int>, startsAt: Int) throws {
        for first in stride(from: people.lowerBound, to: people.upperBound, by: Self.registrationsPerStatement) {
            let last = min(people.upperBound, first + Self.registrationsPerStatement) - 1
            let rows = try laboratory.query(
                """
                SELECT count(*) FILTER (WHERE (task).code = 'created') AS created FROM (
                    SELECT schedule.register_task('\(Self.device)' || number, 'History', 'UTC', \(startsAt), NULL, NULL, \
                    NULL, \(Self.lead), 7776000, 3600) AS task FROM generate_series(\(first), \(last)) AS number
                ) AS registration
                """, timeout: Self.timeout)
            guard try rows[0].integer("created") == last - first + 1 else {
                throw BenchFailure("not all could be registered before they were due")
            }
        }
    }

    // MARK: Results in the database

    private func checkDatabase(_ matches: Int, due: Int, _ findings: inout Findings) throws {
        let rows = try laboratory.query(
            """
            SELECT count(*) AS reminders, count(DISTINCT task_id) AS tasks,
                coalesce(date_part('epoch', max(claimed_at)) - \(due), 0) AS lateness,
                count(*) FILTER (WHERE state = 'delivered') AS delivered
            FROM reminders.reminder
            """, timeout: Self.timeout)
        findings.add("reminders in the database", try rows[0].integer("reminders"), exactly: 2 * matches)
        findings.add("tasks that they are of", try rows[0].integer("tasks"), exactly: 2 * matches)
        findings.add("the last claim began", try rows[0].double("lateness") * 1e3, "ms", atMost: 1_000)
        findings.add("marked delivered", Double(try rows[0].integer("delivered")), "")
    }

    private func matchedRooms(startsAt: Int) throws -> [String] {
        try laboratory.query(
            """
            SELECT room_id::text AS room FROM schedule.task
            WHERE starts_at = to_timestamp(\(startsAt)) AND partner_id IS NOT NULL
            GROUP BY room_id HAVING count(*) = 2
            """, timeout: Self.timeout
        ).map { try $0.string("room").uppercased() }
    }
}
