import Basics
import Domain
import FoundationEssentials

/// When there is something to do. A value: time goes in, decisions come out.
///
/// Due-ness is by the database's clock, waiting by the monotonic one; the last reading of the first, and when it was taken,
/// tie the two together.
struct Agenda {
    /// The longest sleep: then the database is asked, which notices a clock that drifted and a connection that died.
    static let heartbeat = Duration.seconds(15)

    private var reading: (epoch: Double, at: MonotonicTime)?
    /// When the database has something to claim; epoch seconds.
    private(set) var due: Double?
    /// When it has a reminder to give up, unless somebody takes it before; epoch seconds.
    private(set) var expiry: Double?
    /// The earliest that was heard of since the database was asked last: its answer may not know of it yet.
    private var announced: Double?
    /// Rooms that are open, by the second at which they close. On the hour, thousands share one.
    private var closings: [Double: Set<UUID>] = [:]

    /// Whether the database's clock was ever read.
    var isRead: Bool { reading != nil }

    /// The database's clock at `now`, as far as is known.
    func databaseTime(at now: MonotonicTime) -> Double? {
        reading.map { $0.epoch + ((now - $0.at) / .seconds(1)) }
    }

    /// The database is being asked. What is heard of from now on, its answer may be too old to know.
    mutating func willRead() {
        announced = nil
    }

    /// What the database said: its clock, and when it has something to do.
    mutating func read(clock: Double, due: Double?, expiry: Double?, at now: MonotonicTime) {
        reading = (clock, now)
        self.due = [due, announced].compactMap(\.self).min()
        self.expiry = expiry
    }

    /// Somebody registered a task that is due at `epoch`, or says so: what isn't a time is passed over.
    ///
    /// - Returns: Whether that is earlier than all that was known.
    mutating func expect(_ epoch: Double) -> Bool {
        guard epoch.isFinite else { return false }
        announced = min(epoch, announced ?? .infinity)
        guard epoch < due ?? .infinity else { return false }
        due = epoch
        return true
    }

    /// What was to be given up is; whether there is more, the database says when it is asked next.
    mutating func expired() {
        expiry = nil
    }

    /// An open room's time ends at `epoch`.
    ///
    /// - Returns: Whether that is news.
    @discardableResult
    mutating func close(_ room: UUID, at epoch: Double) -> Bool {
        closings[epoch, default: []].insert(room).inserted
    }

    /// Every room that is open.
    var rooms: Set<UUID> { closings.values.reduce(into: []) { $0.formUnion($1) } }

    /// These rooms are open no more.
    mutating func forget(_ rooms: Set<UUID>) {
        for epoch in closings.keys {
            closings[epoch]?.subtract(rooms)
            if closings[epoch]?.isEmpty == true { closings[epoch] = nil }
        }
    }

    /// Whether a room's time is over, as far as is known.
    func hasClosings(at now: MonotonicTime) -> Bool {
        guard let time = databaseTime(at: now) else { return false }
        return closings.keys.contains { $0 <= time }
    }

    /// Takes out the rooms whose time is over.
    mutating func takeClosings(at now: MonotonicTime) -> [UUID] {
        guard let time = databaseTime(at: now) else { return [] }
        var over: [UUID] = []
        for epoch in closings.keys where epoch <= time {
            over += closings.removeValue(forKey: epoch) ?? []
        }
        return over
    }

    /// For how long something has been due; nil when nothing is.
    func overdue(at now: MonotonicTime) -> Duration? {
        guard let due, let time = databaseTime(at: now), due <= time else { return nil }
        return .seconds(saturating: time - due)
    }

    func hasExpired(at now: MonotonicTime) -> Bool {
        guard let expiry, let time = databaseTime(at: now) else { return false }
        return expiry <= time
    }

    /// The earliest of these is how long to sleep, from `now`; nil for what isn't ahead.
    func pauses(at now: MonotonicTime) -> (due: Duration?, expiry: Duration?, closing: Duration?) {
        guard let time = databaseTime(at: now) else { return (nil, nil, nil) }
        func pause(until epoch: Double) -> Duration { max(.zero, .seconds(saturating: epoch - time)) }
        return (due.map(pause), expiry.map(pause), closings.keys.min().map(pause))
    }
}
