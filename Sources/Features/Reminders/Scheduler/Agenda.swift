import Basics
import Domain
import FoundationEssentials

/// Decides when the scheduler has something to do. A value type: time is an argument.
///
/// The database's clock decides what is due, and the monotonic clock measures how long to wait. The agenda converts
/// between them with the last reading of the database's clock.
struct Agenda {
    /// The longest sleep. The query after it notices a clock that drifted, or a dead connection.
    static let heartbeat = Duration.seconds(15)

    private var reading: (epoch: Double, at: MonotonicTime)?
    /// The time of the earliest task to claim, in epoch seconds of the database's clock.
    private(set) var due: Double?
    /// The time at which the next undelivered reminder is marked as missed, in epoch seconds of the database's clock.
    private(set) var expiry: Double?
    /// The earliest due time of the tasks announced since the last query began. The query's answer may lack these
    /// tasks.
    private var announced: Double?
    /// The open rooms, by the second in which they close. Thousands of rooms may close at the full hour.
    private var closings: [Double: Set<UUID>] = [:]

    /// Whether the database's clock was read at least once.
    var isRead: Bool { reading != nil }

    /// Returns the estimated time of the database at `now`. Returns `nil` before its clock was read.
    func databaseTime(at now: MonotonicTime) -> Double? {
        reading.map { $0.epoch + ((now - $0.at) / .seconds(1)) }
    }

    /// Records that a query begins. The query's answer may lack tasks that are announced from now on.
    mutating func willRead() {
        announced = nil
    }

    /// Records the database's answer: its time, and the times of its next work.
    mutating func read(clock: Double, due: Double?, expiry: Double?, at now: MonotonicTime) {
        reading = (clock, now)
        self.due = [due, announced].compactMap(\.self).min()
        self.expiry = expiry
    }

    /// Records an announced task that is due at `epoch`. Ignores values that aren't a time.
    ///
    /// - Returns: Whether the task is due earlier than all known tasks.
    mutating func expect(_ epoch: Double) -> Bool {
        guard epoch.isFinite else { return false }
        announced = min(epoch, announced ?? .infinity)
        guard epoch < due ?? .infinity else { return false }
        due = epoch
        return true
    }

    /// Records that expired reminders were marked as missed. The next query reads the next expiry.
    mutating func expired() {
        expiry = nil
    }

    /// Records that an open room closes at `epoch`.
    ///
    /// - Returns: Whether the room and its time are new.
    @discardableResult
    mutating func close(_ room: UUID, at epoch: Double) -> Bool {
        closings[epoch, default: []].insert(room).inserted
    }

    /// All open rooms.
    var rooms: Set<UUID> { closings.values.reduce(into: []) { $0.formUnion($1) } }

    /// Removes rooms that are no longer open.
    mutating func remove(_ rooms: Set<UUID>) {
        for epoch in closings.keys {
            closings[epoch]?.subtract(rooms)
            if closings[epoch]?.isEmpty == true { closings[epoch] = nil }
        }
    }

    /// Returns whether a known room must close now.
    func hasClosings(at now: MonotonicTime) -> Bool {
        guard let time = databaseTime(at: now) else { return false }
        return closings.keys.contains { $0 <= time }
    }

    /// Removes and returns the rooms that must close.
    mutating func takeClosings(at now: MonotonicTime) -> [UUID] {
        guard let time = databaseTime(at: now) else { return [] }
        var over: [UUID] = []
        for epoch in closings.keys where epoch <= time {
            over += closings.removeValue(forKey: epoch) ?? []
        }
        return over
    }

    /// Returns how long a task has been due. Returns `nil` if none is due.
    func overdue(at now: MonotonicTime) -> Duration? {
        guard let due, let time = databaseTime(at: now), due <= time else { return nil }
        return .seconds(saturating: time - due)
    }

    func hasExpired(at now: MonotonicTime) -> Bool {
        guard let expiry, let time = databaseTime(at: now) else { return false }
        return expiry <= time
    }

    /// Returns the times from `now` until the next due task, the next expiry and the next closing. The earliest is the
    /// time to sleep. `nil` for events that aren't expected.
    func pauses(at now: MonotonicTime) -> (due: Duration?, expiry: Duration?, closing: Duration?) {
        guard let time = databaseTime(at: now) else { return (nil, nil, nil) }
        func pause(until epoch: Double) -> Duration { max(.zero, .seconds(saturating: epoch - time)) }
        return (due.map(pause), expiry.map(pause), closings.keys.min().map(pause))
    }
}
