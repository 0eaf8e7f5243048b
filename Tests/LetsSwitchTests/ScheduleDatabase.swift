import Domain
import FoundationEssentials
import Postgres
import TestSupport

@testable import LetsSwitch
@testable import Scheduling

/// A fresh database with the schedule's schema and a clock that stands where the test puts it.
struct ScheduleDatabase {
    let configuration: PostgresConfiguration
    let client: PostgresClient
    let schedule: ScheduleStore
    let reminders: ReminderStore

    /// `now` nil: the real clock.
    static func with<Result>(
        now: String?, lead: Double = 60, connections: Int = 4,
        _ body: (ScheduleDatabase) async throws -> Result
    ) async throws -> Result {
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.maxConnections = connections
        configuration.sessionSettings = DatabaseSchema.sessionSettings
        configuration.queryTimeout = .seconds(60)
        configuration.stallTimeout = .seconds(30)
        configuration.connectTimeout = .seconds(30)
        let client = PostgresClient(configuration: configuration)
        let database = ScheduleDatabase(
            configuration: configuration,
            client: client,
            schedule: ScheduleStore(database: client, settings: ScheduleSettings(reminderLead: lead)),
            reminders: ReminderStore(database: client))
        do {
            _ = try await client.migrate(DatabaseSchema.current)
            try await database.run("CREATE TABLE letsswitch.test_clock AS SELECT NULL::timestamptz AS at")
            try await database.run(
                """
                CREATE OR REPLACE FUNCTION letsswitch.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                $$ SELECT coalesce((SELECT at FROM letsswitch.test_clock), clock_timestamp()) $$
                """)
            if let now { try await database.setClock(now) }
            let result = try await body(database)
            await client.shutdown()
            return result
        } catch {
            await client.shutdown()
            throw error
        }
    }

    func setClock(_ now: String) async throws {
        try await run("UPDATE letsswitch.test_clock SET at = '\(now)'")
    }

    @discardableResult
    func run(_ sql: String) async throws -> PostgresRows {
        try await client.query(PostgresStatement(name: "", sql: sql), [], timeout: nil)
    }

    func count(_ table: String) async throws -> Int {
        try await run("SELECT count(*) AS n FROM letsswitch.\(table)")[0].integer("n")
    }

    func register(
        _ device: String, _ startsAt: String, _ title: String = "History", zone: String = "UTC"
    ) async throws -> RegistrationOutcome {
        try await schedule.register(try Self.request(device, startsAt, title, zone: zone))
    }

    /// By the app's way of asking: midnight (or date) and time of day.
    func register(
        _ device: String, day: String, time: String, zone: String, title: String = "History"
    ) async throws -> RegistrationOutcome {
        let slot = try Self.wish(device, day: day, time: time, zone: zone)
        return try await schedule.register(TaskRequest(slot: slot, title: title))
    }

    func cancel(_ device: String, _ startsAt: String) async throws -> CancellationOutcome {
        try await schedule.cancel(.slot(try Self.request(device, startsAt, "", zone: "UTC").slot))
    }

    func day(
        _ device: String, _ date: String, zone: String? = nil, everything: Bool = false
    ) async throws -> ScheduleOutcome {
        guard let day = RequestedDay(date) else { throw NotATime(text: date) }
        let request = ScheduleRequest(device: DeviceID(stored: device), day: day, timeZone: zone)
        return try await schedule.day(request, everything: everything)
    }

    static func request(_ device: String, _ startsAt: String, _ title: String, zone: String) throws -> TaskRequest {
        guard let instant = Instant(startsAt) else { throw NotATime(text: startsAt) }
        return TaskRequest(
            slot: SlotRequest(device: DeviceID(stored: device), timeZone: zone, slot: .at(instant)), title: title)
    }

    static func wish(_ device: String, day: String, time: String, zone: String) throws -> SlotRequest {
        guard let wish = RequestedDay(day), let wall = WallTime(time) else { throw NotATime(text: day + " " + time) }
        return SlotRequest(device: DeviceID(stored: device), timeZone: zone, slot: .on(wish, wall))
    }

    struct NotATime: Error {
        let text: String
    }
}

extension RegistrationOutcome {
    var task: TaskResponse? {
        switch self {
        case .created(let task, _), .repeated(let task), .retitled(let task, _): task
        case .refused: nil
        }
    }

    var change: ScheduleChange? {
        switch self {
        case .created(_, let change), .retitled(_, let change): change
        case .repeated, .refused: nil
        }
    }

    var refusal: RequestError? {
        if case .refused(let error) = self { error } else { nil }
    }

    var isCreated: Bool {
        if case .created = self { true } else { false }
    }
}

extension CancellationOutcome {
    var task: TaskResponse? {
        if case .cancelled(let task, _) = self { task } else { nil }
    }

    var code: String {
        switch self {
        case .cancelled: "cancelled"
        case .refused(let error): error.code
        }
    }
}

extension ScheduleOutcome {
    var slots: [ScheduleResponse.Slot] {
        if case .day(let answer) = self { answer.slots } else { [] }
    }

    func slot(_ key: String) -> ScheduleResponse.Slot? {
        slots.first { $0.key == key }
    }
}
