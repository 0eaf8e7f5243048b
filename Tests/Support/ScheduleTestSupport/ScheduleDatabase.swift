package import Domain
package import Features
import FoundationEssentials
package import Notifications
package import Postgres
package import Reminders
package import Schedule
import Schema
import TestSupport

/// A fresh database with the schedule's schema and a clock that the test sets.
package struct ScheduleDatabase {
    package let configuration: PostgresConfiguration
    package let client: PostgresClient
    package let schedule: ScheduleStore
    package let reminders: ReminderStore
    package var addresses: AddressStore { AddressStore(database: client) }
    package var erasures: ErasureStore { ErasureStore(database: client) }
    package var storage: StorageStore { StorageStore(database: client, parts: DatabaseSchema.parts) }

    /// - Parameter now: The clock's time; `nil` for the real clock.
    package static func with<Result>(
        now: String?, lead: Double = 60, connections: Int = 4,
        _ body: (ScheduleDatabase) async throws -> Result
    ) async throws -> Result {
        let conninfo = try await TestCluster.shared.makeDatabase(named: "schedule") { conninfo in
            let database = make(conninfo, lead: lead, connections: 1)
            _ = try await database.client.migrate(DatabaseSchema.current)
            try await database.run("CREATE TABLE letsswitch.test_clock AS SELECT NULL::timestamptz AS at")
            try await database.run(
                """
                CREATE OR REPLACE FUNCTION core.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                $$ SELECT coalesce((SELECT at FROM letsswitch.test_clock), clock_timestamp()) $$
                """)
            await database.client.shutdown()
        }
        let database = make(conninfo, lead: lead, connections: connections)
        do {
            if let now { try await database.setClock(now) }
            let result = try await body(database)
            await database.end()
            return result
        } catch {
            await database.end()
            throw error
        }
    }

    private static func make(_ conninfo: String, lead: Double, connections: Int) -> ScheduleDatabase {
        var configuration = PostgresConfiguration(conninfo: conninfo)
        configuration.maxConnections = connections
        configuration.sessionSettings = DatabaseSchema.sessionSettings
        configuration.queryTimeout = .seconds(60)
        configuration.stallTimeout = .seconds(30)
        configuration.connectTimeout = .seconds(30)
        let client = PostgresClient(configuration: configuration)
        return ScheduleDatabase(
            configuration: configuration,
            client: client,
            schedule: ScheduleStore(database: client, settings: ScheduleSettings(reminderLead: lead)),
            reminders: ReminderStore(database: client))
    }

    private func end() async {
        await client.shutdown()
        await TestCluster.shared.remove(configuration.conninfo)
    }

    /// Deletes tasks and other rows older than `retention` seconds, and messages older than a year.
    @discardableResult
    package func deleteOld(retention: Double, messages: Duration = .seconds(365 * 86_400), limit: Int = 1000)
        async throws -> Int
    {
        try await RetentionStore(
            database: client, parts: DatabaseSchema.parts, tasks: .seconds(retention), messages: messages
        ).deleteOld(limit: limit)
    }

    package func setClock(_ now: String) async throws {
        try await run("UPDATE letsswitch.test_clock SET at = '\(now)'")
    }

    @discardableResult
    package func run(_ sql: String) async throws -> PostgresRows {
        try await client.query(PostgresStatement(name: "", sql: sql), [], timeout: nil)
    }

    package func count(_ table: String) async throws -> Int {
        try await run("SELECT count(*) AS n FROM \(table)")[0].integer("n")
    }

    package func register(
        _ device: String, _ startsAt: String, _ title: String = "History", zone: String = "UTC"
    ) async throws -> RegistrationOutcome {
        try await schedule.register(try Self.request(device, startsAt, title, zone: zone))
    }

    /// Registers a task in the app's way: by midnight (or a date) and a time of day.
    package func register(
        _ device: String, day: String, time: String, zone: String, title: String = "History"
    ) async throws -> RegistrationOutcome {
        let slot = try Self.request(device, day: day, time: time, zone: zone)
        return try await schedule.register(TaskRequest(slot: slot, title: title))
    }

    /// Registers two matched tasks for 2026-11-22 at nine, and claims their reminders.
    package func remindedPair(_ first: String, _ second: String) async throws -> (TaskResponse, TaskResponse) {
        var tasks: [TaskResponse] = []
        for device in [first, second] {
            if let task = try await register(device, "2026-11-22T09:00:00Z").task { tasks.append(task) }
        }
        try await setClock("2026-11-22 08:59:10Z")
        let reminded = try await reminders.claimDue(limit: 10)?.reminders.compactMap(\.taskId) ?? []
        guard tasks.count == 2, Set(reminded).isSuperset(of: tasks.map(\.id)) else { throw MissingPair() }
        return (tasks[0], tasks[1])
    }

    private struct MissingPair: Error {}

    package func cancel(_ device: String, _ startsAt: String) async throws -> CancellationOutcome {
        try await schedule.cancel(.slot(try Self.request(device, startsAt, "", zone: "UTC").slot))
    }

    package func day(
        _ device: String, _ date: String, zone: String? = nil, everything: Bool = false
    ) async throws -> ScheduleOutcome {
        guard let day = RequestedDay(date) else { throw InvalidTime(text: date) }
        let request = ScheduleRequest(device: DeviceID(stored: device), day: day, timeZone: zone)
        return try await DayStore(database: client).day(request, everything: everything)
    }

    package static func request(_ device: String, _ startsAt: String, _ title: String, zone: String) throws
        -> TaskRequest
    {
        guard let instant = Instant(startsAt) else { throw InvalidTime(text: startsAt) }
        return TaskRequest(
            slot: SlotRequest(device: DeviceID(stored: device), timeZone: zone, slot: .at(instant)), title: title)
    }

    package static func request(_ device: String, day: String, time: String, zone: String) throws -> SlotRequest {
        guard let request = RequestedDay(day), let wall = WallTime(time) else {
            throw InvalidTime(text: day + " " + time)
        }
        return SlotRequest(device: DeviceID(stored: device), timeZone: zone, slot: .on(request, wall))
    }

    package struct InvalidTime: Error {
        package let text: String
    }
}

extension RegistrationOutcome {
    package var task: TaskResponse? {
        switch self {
        case .created(let task, _), .repeated(let task), .retitled(let task, _): task
        case .refused: nil
        }
    }

    package var change: ScheduleChange? {
        switch self {
        case .created(_, let change), .retitled(_, let change): change
        case .repeated, .refused: nil
        }
    }

    package var refusal: RequestError? {
        if case .refused(let error) = self { error } else { nil }
    }

    package var isCreated: Bool {
        if case .created = self { true } else { false }
    }
}

extension CancellationOutcome {
    package var task: TaskResponse? {
        if case .cancelled(let task, _) = self { task } else { nil }
    }

    package var code: String {
        switch self {
        case .cancelled: "cancelled"
        case .refused(let error): error.code
        }
    }
}

extension ScheduleOutcome {
    package var slots: [ScheduleResponse.Slot] {
        if case .day(let answer) = self { answer.slots } else { [] }
    }

    package func slot(_ key: String) -> ScheduleResponse.Slot? {
        slots.first { $0.key == key }
    }
}

extension AddressStore {
    package func registerToken(_ token: String, of device: String, isSandbox: Bool = false) async throws {
        try await registerToken(token, of: DeviceID(stored: device), isSandbox: isSandbox)
    }
}
