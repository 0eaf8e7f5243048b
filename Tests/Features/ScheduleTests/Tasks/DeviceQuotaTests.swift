import Domain
import FoundationEssentials
import Notifications
import Postgres
import ScheduleTestSupport
import Testing

@testable import Schedule

/// Quotas of one device while many of its requests run at once.
@Suite(.serialized) struct DeviceQuotaTests {
    private static let requests = 32

    /// Returns a start on 2 December 2026. Numbers below 60 are a minute apart.
    private static func start(_ number: Int) -> String { "2026-12-02T09:\(number < 10 ? "0" : "")\(number):00Z" }

    private static func series(
        _ client: PostgresClient, _ change: (inout ScheduleSettings) -> Void = { _ in }
    ) -> SeriesStore {
        var settings = ScheduleSettings()
        change(&settings)
        return SeriesStore(database: client, settings: settings)
    }

    private static func with(_ body: (ScheduleDatabase, ConcurrentClients) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: "2026-12-01 12:00Z") { database in
            try await ConcurrentClients.with(database) { try await body(database, $0) }
        }
    }

    @Test("Simultaneous overlapping series of a device leave one")
    func overlappingSeries() async throws {
        try await Self.with { database, concurrent in
            try await concurrent.holdingInserts(into: "schedule.series") {
                let codes = try await concurrent.count(Self.requests) { number, client in
                    let days = number % 2 == 0 ? ["mon", "tue"] : ["tue", "wed"]
                    return try await Self.series(client).begin(
                        ScheduleDatabase.series("a", on: days, title: "History \(number)")
                    ).isNew
                }
                #expect(codes == ["new": 1, "series_exists": Self.requests - 1])
            }
            #expect(try await database.count("schedule.series") == 1)
        }
    }

    @Test("A device that begins different series at the same time doesn't exceed its limit")
    func differentSeries() async throws {
        try await Self.with { _, concurrent in
            try await concurrent.holdingInserts(into: "schedule.series") {
                let codes = try await concurrent.count(Self.requests) { number, client in
                    try await Self.series(client) { $0.maxSeriesPerDevice = 20 }.begin(
                        ScheduleDatabase.series("a", at: "09:\(number + 10)", on: ["mon"])
                    ).isNew
                }
                #expect(codes == ["new": 20, "too_many_series": Self.requests - 20])
            }
        }
    }

    @Test("A device that registers tasks by hand and by series at the same time doesn't exceed its limit")
    func tasks() async throws {
        try await Self.with { database, concurrent in
            try await concurrent.holdingInserts(into: "schedule.task") {
                _ = try await concurrent.count(Self.requests) { number, client in
                    if number % 8 == 0 {
                        return try await Self.series(client) { $0.maxTasksPerDevice = 20 }.begin(
                            ScheduleDatabase.series("a", at: "1\(number / 8):00", in: "UTC", on: ["thu", "fri"])
                        ).isNew
                    }
                    let schedule = ScheduleStore(
                        database: client, settings: ScheduleSettings(maxTasksPerDevice: 20))
                    let request = try ScheduleDatabase.request("a", Self.start(number), "History", zone: "UTC")
                    if case .refused(let error) = try await schedule.register(request) { throw error }
                    return true
                }
            }
            #expect(try await database.count("schedule.task") == 20)
        }
    }

    @Test("A device that prefers one partner many times at once makes one preference")
    func onePreference() async throws {
        try await Self.with { database, concurrent in
            let own = try #require(try await database.register("a", Self.start(0)).task)
            _ = try await database.register("b", Self.start(0))
            try await concurrent.holdingInserts(into: "schedule.preference") {
                let codes = try await concurrent.count(Self.requests) { _, client in
                    try await PreferenceStore(database: client).prefer(
                        OwnTask(id: own.id, device: DeviceID(stored: "a"))
                    ).isNew
                }
                #expect(codes == ["new": 1, "known": Self.requests - 1])
            }
        }
    }

    @Test("A device that prefers several partners at the same time doesn't exceed its limit")
    func preferences() async throws {
        try await Self.with { database, concurrent in
            var tasks: [OwnTask] = []
            for number in 0..<Self.requests {
                let own = try #require(try await database.register("a", Self.start(number)).task)
                _ = try await database.register("b\(number)", Self.start(number))
                tasks.append(OwnTask(id: own.id, device: DeviceID(stored: "a")))
            }
            // Five fewer than a device may have.
            try await database.run(
                """
                INSERT INTO schedule.preference (id, device_id, preferred_id, title, starts_at, preferred_at)
                SELECT gen_random_uuid(), 'a', 'old ' || number, 'Art', now(), now()
                FROM generate_series(1, \(PreferenceStore.perDevice - 5)) AS number
                """)
            try await concurrent.holdingInserts(into: "schedule.preference") { [tasks] in
                let codes = try await concurrent.count(Self.requests) { number, client in
                    try await PreferenceStore(database: client).prefer(tasks[number]).isNew
                }
                #expect(codes == ["new": 5, "too_many_preferences": Self.requests - 5])
            }
        }
    }

    @Test("A device that registers addresses at the same time doesn't exceed its limit")
    func addresses() async throws {
        try await Self.with { database, concurrent in
            try await concurrent.holdingInserts(into: "core.address") {
                _ = try await concurrent.count(Self.requests) { number, client in
                    try await AddressStore(database: client).register(
                        "https://push.example/\(number)", of: DeviceID(stored: "a"), in: .webPush, most: 3)
                    return true
                }
            }
            #expect(try await database.count("core.address") == 3)
        }
    }

    @Test("Requests of one device of all kinds at once never deadlock")
    func locks() async throws {
        try await Self.with { database, concurrent in
            let settings = ScheduleSettings(maxTasksPerDevice: 60)
            let device = DeviceID(stored: "a")
            let first = try #require(try await database.register("a", "2026-12-05T09:00:00Z").task)
            for step in 0..<8 {
                _ = try await concurrent.count(Self.requests) { number, client in
                    do {
                        switch (number + step) % 6 {
                        case 0, 1:
                            let request = try ScheduleDatabase.request(
                                "a", Self.start((number * 7 + step) % 60), "History", zone: "UTC")
                            _ = try await ScheduleStore(database: client, settings: settings).register(request)
                        case 2:
                            let start = try #require(Instant(Self.start((number + step) % 60)))
                            _ = try await PartnerStore(database: client, settings: settings).move(
                                MoveRequest(task: OwnTask(id: first.id, device: device), slot: .at(start)))
                        case 3:
                            _ = try await SeriesStore(database: client, settings: settings).begin(
                                ScheduleDatabase.series("a", at: "09:\(10 + number)", in: "UTC", on: ["wed"]))
                        case 4:
                            try await database.run("UPDATE schedule.series SET next_check_at = core.clock()")
                            _ = try await SeriesStore(database: client, settings: settings).extendNext()
                        default:
                            try await AddressStore(database: client).register(
                                "https://push.example/\(number)", of: device, in: .webPush, most: 2)
                        }
                    } catch let error as PostgresError where error.kind == .conflict(sqlState: "40001") {
                        // The task was moved meanwhile, so this conflict is allowed. A deadlock would be 40P01, and
                        // fail the test.
                    }
                    return true
                }
            }
        }
    }
}
