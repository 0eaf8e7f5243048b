import FoundationEssentials
import Sockets

/// What the scheduler has to do next, and when. A value: time goes in, decisions come out.
///
/// Due-ness is by the database's clock, waiting by the monotonic one; the last reading of the first, and when it was taken,
/// tie the two together.
struct Agenda {
    /// The longest sleep: then the database is asked, which notices a clock that drifted and a connection that died.
    static let heartbeat = Duration.seconds(15)

    private var reading: (epoch: Double, at: MonotonicTime)?
    /// When the database has something to claim or to give up; epoch seconds.
    private(set) var due: Double?
    /// The earliest that was heard of since the database was asked last: its answer may not know of it yet.
    private var heard: Double?
    /// Rooms that are open, by the second at which they close. On the hour, thousands share one.
    private var closings: [Double: Set<UUID>] = [:]

    /// The database's clock at `now`, as far as is known.
    func databaseTime(at now: MonotonicTime) -> Double? {
        reading.map { $0.epoch + ((now - $0.at) / .seconds(1)) }
    }

    /// The database is being asked. What is heard of from now on, its answer may be too old to know.
    mutating func willRead() {
        heard = nil
    }

    /// What the database said: its clock, and when it has something to do.
    mutating func read(clock: Double, due: Double?, at now: MonotonicTime) {
        reading = (clock, now)
        self.due = [due, heard].compactMap(\.self).min()
    }

    /// Somebody registered a task that is due at `epoch`.
    ///
    /// - Returns: Whether that is earlier than all that was known.
    mutating func expect(_ epoch: Double) -> Bool {
        heard = min(epoch, heard ?? .infinity)
        guard epoch < due ?? .infinity else { return false }
        due = epoch
        return true
    }

    /// An open room's time ends at `epoch`.
    ///
    /// - Returns: Whether that is news.
    @discardableResult
    mutating func close(_ room: UUID, at epoch: Double) -> Bool {
        closings[epoch, default: []].insert(room).inserted
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

    func isDue(at now: MonotonicTime) -> Bool {
        guard let due, let time = databaseTime(at: now) else { return false }
        return due <= time
    }

    /// How long to sleep, from `now`.
    func pause(at now: MonotonicTime) -> Duration {
        guard let time = databaseTime(at: now) else { return .zero }
        let next = min(due ?? .infinity, closings.keys.min() ?? .infinity)
        return min(Self.heartbeat, max(.zero, .seconds(min(next - time, 3600))))
    }
}
