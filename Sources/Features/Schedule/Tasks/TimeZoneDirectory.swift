import Basics
import Domain
import Features

/// The time zones that requests may name. Read from the database when the daemon starts. Any thread may use them.
final class TimeZoneDirectory: Sendable {
    private let store: ScheduleStore
    private let database: any DatabaseReadiness
    private let known = Locked<TimeZoneNames?>(nil)

    /// - Parameter store: Uses another pool than requests do.
    init(store: ScheduleStore, database: any DatabaseReadiness) {
        self.store = store
        self.database = database
    }

    /// Reads the names. Called before the daemon answers its first request.
    func read() async throws {
        let names = try await store.timeZoneNames()
        known.withLock { $0 = names }
    }

    /// Returns the names.
    ///
    /// - Throws: `503` until the database is ready.
    func names() async throws(RequestError) -> TimeZoneNames {
        try await database.checkPrepared()
        guard let names = known.withLock({ $0 }) else { throw .databaseUnavailable }
        return names
    }
}
