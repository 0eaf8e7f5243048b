import Domain
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import Testing

@testable import Schedule

/// Tasks that a series creates in advance, on certain days of every week.
@Suite struct SeriesStoreTests {
    private static let tuesday = "2026-10-20 08:00Z"
    /// After the quiet hour in London.
    private static let wednesday = "2026-10-21 03:00Z"

    private static func days(_ days: ClosedRange<Int>, _ month: String, at time: String) -> [String] {
        days.map { "\(month)-\($0 < 10 ? "0" : "")\($0)T\(time):00Z" }
    }

    @Test(
        "A series has tasks for fourteen days at its local time")
    func autumn() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            let begun = try await store.begin(ScheduleDatabase.series("a"))
            // It is too late for a task today.
            let expected =
                Self.days(21...24, "2026-10", at: "08:00") + Self.days(25...31, "2026-10", at: "09:00")
                + Self.days(1...3, "2026-11", at: "09:00")
            #expect(begun.isNew && begun.series.starts == expected)
            #expect(begun.series.tasks.allSatisfy { $0.startTime == "09:00" && $0.seriesId == begun.series.id })
            #expect(begun.tasks.made.count == 14 && begun.tasks.changes.count == 14)
            let repeated = try await store.begin(ScheduleDatabase.series("a"))
            #expect(!repeated.isNew && repeated.series == begun.series && repeated.tasks.isEmpty)
            let other = await #expect(throws: RequestError.self) {
                try await store.begin(ScheduleDatabase.series("a", title: "Maths"))
            }
            #expect(other?.code == "series_exists")
            // A second series at the same time of day is refused, even on fewer days.
            let wider = await #expect(throws: RequestError.self) {
                try await store.begin(ScheduleDatabase.series("a", on: ["sat", "sun"]))
            }
            #expect(wider?.code == "series_exists")

            #expect(try await store.extendNext() == nil)
            try await database.setClock(Self.wednesday)
            let next = try #require(try await store.extendNext())
            #expect(next.made.map(\.startsAt.description) == ["2026-11-04T09:00:00Z"])
            #expect(try await store.extendNext() == nil)
            try await database.checkPairs()
        }
    }

    @Test("A local time that doesn't exist leaves its day out")
    func clockChanges() async throws {
        try await ScheduleDatabase.with(now: "2027-03-20 12:00Z") { database in
            let store = database.series()
            let nightly = try await store.begin(ScheduleDatabase.series("a", at: "01:30"))
            #expect(
                nightly.series.starts == Self.days(21...27, "2027-03", at: "01:30")
                    + Self.days(29...31, "2027-03", at: "00:30") + Self.days(1...3, "2027-04", at: "00:30"))
            try await database.setClock("2026-10-20 12:00Z")
            let weekly = try await store.begin(
                ScheduleDatabase.series("b", at: "01:30", on: ["sun", "wed"], until: "2026-11-01"))
            #expect(
                weekly.series.starts == [
                    "2026-10-21T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-28T01:30:00Z", "2026-11-01T01:30:00Z",
                ])
            try await database.setClock("2026-11-02 05:00Z")
            while let tasks = try await store.extendNext() { #expect(tasks.isEmpty) }
            // The series is over. It is deleted when its last day has ended in every time zone.
            #expect(try await store.list(of: DeviceID(stored: "b")).count == 1)
            try await database.setClock("2026-11-05 05:00Z")
            while try await store.extendNext() != nil {}
            #expect(try await store.list(of: DeviceID(stored: "b")).isEmpty)
        }
    }

    @Test("A cancelled task of a series isn't created again")
    func leftOut() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            let byHand = try #require(try await database.register("a", "2026-10-22T08:00:00Z", "Art").task)
            _ = try await database.register("b", "2026-10-23T08:00:00Z", "Maths")
            let begun = try await store.begin(ScheduleDatabase.series("a"))
            #expect(begun.series.task("2026-10-22T08:00:00Z") == nil && begun.series.tasks.count == 13)
            #expect(begun.series.task("2026-10-23T08:00:00Z")?.partnerTitle == "Maths")
            #expect(begun.tasks.newMatches == 1)
            #expect(try await database.register("a", "2026-10-22T08:00:00Z", "Art") == .repeated(byHand))

            #expect(try await database.cancel("a", "2026-10-24T08:00:00Z").code == "cancelled")
            #expect(try await database.cancel("a", "2026-10-22T08:00:00Z").code == "cancelled")
            try await database.setClock(Self.wednesday)
            #expect(try await store.extendNext()?.made.count == 1)
            let listed = try #require(try await store.list(of: DeviceID(stored: "a")).first)
            #expect(listed.task("2026-10-24T08:00:00Z") == nil && listed.task("2026-10-22T08:00:00Z") == nil)
            #expect(listed.tasks.count == 13)
            try await database.checkPairs()
        }
    }

    @Test("A task renamed by hand leaves its series, so renaming and ending don't affect it")
    func retitledByHand() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            let own = try await store.begin(ScheduleDatabase.series("a", on: ["wed", "thu"])).series.own
            #expect(try await database.register("a", "2026-10-22T08:00:00Z", "Exam").task?.title == "Exam")
            // The time zone no longer exists, so it is ignored for existing tasks.
            try await database.run("UPDATE schedule.task SET time_zone = 'Mars/Base'")
            #expect(try await store.rename(SeriesRenaming(series: own, title: "Art")).1.retitled == 3)
            #expect(try await store.rename(SeriesRenaming(series: own, title: "Music")).1.retitled == 3)
            #expect(try await store.end(own).1.cancelled == 3)
            #expect(
                try await database.run("SELECT title FROM schedule.task").map { try $0.string("title") } == ["Exam"])
        }
    }

    @Test("A title changes from a day on")
    func rename() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            let own = try await store.begin(ScheduleDatabase.series("a")).series.own
            _ = try await database.register("b", "2026-10-30T09:00:00Z", "Maths")
            let (renamed, tasks) = try await store.rename(
                SeriesRenaming(series: own, title: "Art", from: CalendarDate("2026-10-28")))
            #expect(renamed.title == "Art" && renamed.later == nil && tasks.retitled == 7)
            #expect(
                renamed.tasks.map(\.title) == Array(repeating: "History", count: 7) + Array(repeating: "Art", count: 7))
            #expect(try await database.own("b", "2026-10-30T09:00:00Z")?.partnerTitle == "Art")

            let (planned, nothing) = try await store.rename(
                SeriesRenaming(series: own, title: "Latin", from: CalendarDate("2026-11-06")))
            #expect(planned.title == "Art" && planned.later?.title == "Latin" && nothing.isEmpty)
            #expect(try await store.begin(ScheduleDatabase.series("a", title: "Latin")).isNew == false)
            try await database.setClock("2026-10-25 05:00Z")
            #expect(try await store.extendNext()?.made.map(\.title) == ["Art", "Art", "Latin", "Latin", "Latin"])
            #expect(try await store.list(of: own.device).first?.title == "Latin")
            let (all, _) = try await store.rename(SeriesRenaming(series: own, title: "Rest"))
            #expect(Set(all.tasks.map(\.title)) == ["Rest"])
            let missing = SeriesRenaming(series: OwnSeries(id: own.id, device: DeviceID(stored: "b")), title: "x")
            let refused = await #expect(throws: RequestError.self) { try await store.rename(missing) }
            #expect(refused?.code == "no_such_series")
        }
    }

    @Test("An ended series cancels its tasks without partners")
    func end() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            let own = try await store.begin(ScheduleDatabase.series("a")).series.own
            _ = try await database.register("b", "2026-10-30T09:00:00Z", "Maths")
            let (ended, tasks) = try await store.end(own)
            #expect(ended.starts == ["2026-10-30T09:00:00Z"] && tasks.cancelled == 13)
            #expect(try await database.count("schedule.task WHERE device_id = 'a'") == 1)
            #expect(try await store.list(of: own.device).isEmpty)
            try await database.setClock(Self.wednesday)
            #expect(try await store.extendNext() == nil)
            let again = await #expect(throws: RequestError.self) { try await store.end(own) }
            #expect(again?.code == "no_such_series")
            try await database.checkPairs()
        }
    }

    @Test("If a zone's rules change, tasks without partners move")
    func rules() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            let begun = try await store.begin(
                ScheduleDatabase.series("a", on: ["wed", "thu", "fri", "sat"], until: "2026-10-24"))
            #expect(begun.series.tasks.count == 4)
            _ = try await database.register("b", "2026-10-22T08:00:00Z", "Maths")
            _ = try await database.register("c", "2026-10-23T07:00:00Z", "Latin")
            let last = try #require(begun.series.tasks.last)
            #expect(try await database.move("a", last.id, to: "2026-10-24T12:00:00Z").code == "done")
            // Simulates that the zone's rules moved its clocks forward by an hour.
            try await database.run(
                "UPDATE schedule.series SET time_zone = 'Europe/Paris', next_check_at = core.clock()")
            let tasks = try #require(try await store.extendNext())
            #expect(tasks.moved.map(\.id) == [begun.series.tasks[0].id, begun.series.tasks[2].id])
            #expect(tasks.newMatches == 1 && tasks.made.isEmpty)
            let listed = try #require(try await store.list(of: DeviceID(stored: "a")).first)
            #expect(listed.starts == ["2026-10-21T07:00:00Z", "2026-10-22T08:00:00Z", "2026-10-23T07:00:00Z"])
            #expect(listed.tasks.map(\.startTime) == ["09:00", "09:00", "09:00"])
            #expect(try await database.own("a", "2026-10-24T12:00:00Z")?.seriesId == nil)
            try await database.checkPairs()
        }
    }

    @Test("A series is erased with its device, even while its tasks are being made")
    func erasure() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            _ = try await store.begin(ScheduleDatabase.series("a"))
            try await database.setClock(Self.wednesday)
            let holder = try await PostgresSession.connect(database.configuration)
            let maker = try await PostgresSession.connect(database.configuration)
            let eraser = try await PostgresSession.connect(database.configuration)
            try await holder.execute("BEGIN; SELECT schedule.lock_slot('2026-11-04 09:00Z')")
            let making = Task {
                try await maker.execute(
                    "SELECT code FROM schedule.extend_next_series(14, 60, 7776000, 3600, 300, 200, NULL)",
                    timeout: .seconds(60)
                )?.map { try $0.string("code") }
            }
            try await database.waits(1)
            let erasing = Task {
                _ = try await eraser.execute("SELECT core.erase_device('a')", timeout: .seconds(60))
            }
            try await database.waits(2)
            try await holder.execute("COMMIT")
            #expect(try await making.value == ["checked", "created"])
            try await erasing.value
            for session in [holder, maker, eraser] { await session.close() }
            #expect(try await database.count("schedule.series") == 0)
            #expect(try await database.count("schedule.task") == 0)
            #expect(try await store.extendNext() == nil)
        }
    }

    @Test("The series and tasks of a device are limited")
    func quotas() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series { ($0.maxSeriesPerDevice, $0.maxTasksPerDevice) = (1, 5) }
            #expect(try await store.begin(ScheduleDatabase.series("a")).series.tasks.count == 5)
            let refused = await #expect(throws: RequestError.self) {
                try await store.begin(ScheduleDatabase.series("a", at: "10:00"))
            }
            #expect(refused?.status == 429 && refused?.code == "too_many_series" && refused?.quota == .seriesPerDevice)
            try await database.setClock("2026-10-22 03:00Z")
            #expect(try await store.extendNext()?.made.map(\.startsAt.description) == ["2026-10-26T09:00:00Z"])
            #expect(try await store.extendNext() == nil)

            let quota = StorageQuota(StorageLimits(tasks: 1, addresses: 1, calendars: 1))
            quota.found([.tasks: 1], since: quota.added)
            let full = SeriesStore(database: database.client, settings: ScheduleSettings(), storage: quota)
            await #expect(throws: RequestError.storageFull(.tasks)) {
                try await full.begin(ScheduleDatabase.series("b"))
            }
            quota.found([.series: 1_000_000], since: quota.added)
            await #expect(throws: RequestError.storageFull(.series)) {
                try await full.begin(ScheduleDatabase.series("b"))
            }
            let past = await #expect(throws: RequestError.self) {
                try await store.begin(ScheduleDatabase.series("b", until: "2026-10-21"))
            }
            #expect(past?.code == "invalid_request")
        }
    }

    @Test("A series that fails is postponed, and others continue")
    func poison() async throws {
        try await ScheduleDatabase.with(now: Self.tuesday) { database in
            let store = database.series()
            for device in ["a", "b"] { _ = try await store.begin(ScheduleDatabase.series(device)) }
            try await database.run(
                "ALTER TABLE schedule.task ADD CONSTRAINT poison CHECK (device_id <> 'a') NOT VALID")
            try await database.setClock(Self.wednesday)
            var made = 0
            while let tasks = try await store.extendNext() { made += tasks.made.count }
            #expect(made == 1)
            try await database.run("ALTER TABLE schedule.task DROP CONSTRAINT poison")
            try await database.setClock("2026-10-21 04:00Z")
            #expect(try await store.extendNext()?.made.count == 1)
        }
    }
}
