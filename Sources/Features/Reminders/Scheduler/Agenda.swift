import Basics
import Domain
import FoundationEssentials

/// Decides when there is something to do. A value: time is an argument.
///
/// The database's clock decides what is due, and the monotonic clock measures waiting. The last reading of the
/// database's clock, and when it was taken, connect the two.
struct Agenda {
    /// The longest sleep. The query afterwards notices a drifted clock and a dead connection.
    static let heartbeat = Duration.seconds(15)

    private var reading: (epoch: Double, at: MonotonicTime)?
    /// When the database has something to claim, in epoch seconds.
    private(set) var due: Double?
    /// When the database has a reminder to give up, unless it is delivered before. Epoch seconds.
    private(set) var expiry: Double?
    /// The earliest time announced since the last query, whose answer may not include it.
    private var announced: Double?
    /// The open rooms, by the second in which they close. On the hour, thousands share one.
    private var closings: [Double: Set<UUID>] = [:]

    /// Whether the database's clock was ever read.
    var isRead: Bool { reading != nil }

    /// Returns the database's time at `now`, as far as it is known.
    func databaseTime(at now: MonotonicTime) -> Double? {
        reading.map { $0.epoch + ((now - $0.at) / .seconds(1)) }
    }

    /// Records that a query begins. Its answer may miss what is announced from now on.
    mutating func willRead() {
        announced = nil
    }

    /// Records the database's answer: its time, and when it has something to do.
    mutating func read(clock: Double, due: Double?, expiry: Double?, at now: MonotonicTime) {
        reading = (clock, now)
        self.due = [due, announced].compactMap(\.self).min()
        self.expiry = expiry
    }

    /// Records an announced task that is due at `epoch`. Ignores values that aren't a time.
    ///
    /// - Returns: Whether it is earlier than everything known.
    mutating func expect(_ epoch: Double) -> Bool {
        guard epoch.isFinite else { return false }
        announced = min(epoch, announced ?? .infinity)
        guard epoch < due ?? .infinity else { return false }
        due = epoch
        return true
    }

    /// Records that due reminders were given up. The next query says whether there are more.
    mutating func expired() {
        expiry = nil
    }

    /// Records that an open room closes at `epoch`.
    ///
    /// - Returns: Whether this is new.
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

    /// Returns whether a room must close, as far as is known.
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

    /// Returns how long something has been due. Returns `nil` if nothing is.
    func overdue(at now: MonotonicTime) -> Duration? {
        guard let due, let time = databaseTime(at: now), due <= time else { return nil }
        return .seconds(saturating: time - due)
    }

    func hasExpired(at now: MonotonicTime) -> Bool {
        guard let expiry, let time = databaseTime(at: now) else { return false }
        return expiry <= time
    }

    /// Returns the times from `now` until the next events. The earliest is how long to sleep. `nil` for events that
    /// aren't ahead.
    func pauses(at now: MonotonicTime) -> (due: Duration?, expiry: Duration?, closing: Duration?) {
        guard let time = databaseTime(at: now) else { return (nil, nil, nil) }
        func pause(until epoch: Double) -> Duration { max(.zero, .seconds(saturating: epoch - time)) }
        return (due.map(pause), expiry.map(pause), closings.keys.min().map(pause))
    }
}
