import Basics
import Rooms

/// The live daemons. Each look compares the counters of their rows with the last look, by our own clock. A value.
///
/// ```
/// | a daemon        | its row                                                     | result                          |
/// |-----------------|-------------------------------------------------------------|---------------------------------|
/// | unknown         | was updated recently, by the database's clock               | alive                           |
/// | unknown         | was not: it died, or that clock was set ahead               | doubtful; looked at again soon  |
/// | any             | is still updated, or its packets arrive                     | alive                           |
/// | alive, doubtful | has not changed for too long                                | gone; its row must be removed   |
/// | any             | is missing, without a recent outage of the database         | unknown: it ended or was removed|
/// ```
///
/// Clocks of other systems decide only whether a new row is trusted when it is first read or at its next beat. Time
/// during which this daemon couldn't look doesn't count against other daemons.
struct DaemonRoster {
    private enum Liveness {
        case alive, doubtful, gone
    }

    private struct Entry {
        var row: DaemonRow
        var liveness: Liveness
        /// The time when the daemon was first seen, its counter last grew, or its last packet arrived.
        var lastSign: MonotonicTime
    }

    private let own: DaemonID
    private let timing: DaemonTiming
    private var entries: [DaemonID: Entry] = [:]
    /// The time of the last look; `nil` if the last read failed.
    private var looked: MonotonicTime?
    /// The time of the last look that followed a pause.
    private var resumed: MonotonicTime?

    init(own: DaemonID, timing: DaemonTiming = DaemonTiming()) {
        self.own = own
        self.timing = timing
    }

    /// The other live daemons, sorted by id.
    var alive: [DaemonInfo] {
        entries.values.filter { $0.liveness == .alive }.map(\.row.info).sorted { $0.id.description < $1.id.description }
    }

    /// Whether the next look may show that a doubtful daemon is alive.
    var hasDoubts: Bool { entries.values.contains { $0.liveness == .doubtful } }

    /// The rows that have not changed for too long.
    var gone: [DaemonRow] { entries.values.filter { $0.liveness == .gone }.map(\.row) }

    /// Handles the rows at `now`, and the senders of packets since the last look.
    mutating func look(at rows: [DaemonRow], senders: Set<DaemonID> = [], now: MonotonicTime) {
        if looked.map({ now - $0 > timing.longestPause }) ?? true {
            for id in entries.keys { entries[id]?.lastSign = now }
            resumed = entries.isEmpty ? nil : now
        }
        looked = now
        // A server that crashed may have lost rows. The daemons write their rows again.
        let mayHaveLostRows = resumed.map { now - $0 < timing.longestPause } ?? false
        var next = mayHaveLostRows ? entries : [:]
        for row in rows where row.info.id != own {
            next[row.info.id] = entry(of: row, hasSent: senders.contains(row.info.id), now)
        }
        entries = next
    }

    /// Handles a failed read of the roster.
    mutating func failed() {
        looked = nil
    }

    private func entry(of row: DaemonRow, hasSent: Bool, _ now: MonotonicTime) -> Entry {
        guard var entry = entries[row.info.id] else {
            return Entry(row: row, liveness: row.isFresh || hasSent ? .alive : .doubtful, lastSign: now)
        }
        let isSign = hasSent || row.beats != entry.row.beats
        entry.row = row
        if isSign { (entry.liveness, entry.lastSign) = (.alive, now) }
        if now - entry.lastSign >= timing.patience { entry.liveness = .gone }
        return entry
    }
}

/// The intervals and tolerances of beats.
struct DaemonTiming: Sendable {
    /// The interval of looks and beats. It is slightly less than five seconds, so that three intervals take at most 15
    /// seconds.
    var interval = Duration.milliseconds(4_950)
    /// A daemon is gone if two looks after its last change show no change. This is slightly less than two intervals,
    /// because looks may be early.
    var patience = Duration.milliseconds(9_500)
    /// The maximum time between two looks that can be compared. After a longer time, this daemon was stopped or the
    /// database was unavailable.
    var longestPause = Duration.seconds(8)
    /// The wait at the start before a doubtful row is looked at again. A live daemon increments its counter as soon as
    /// it is notified of this daemon.
    var doubtPause = Duration.milliseconds(250)
    /// The maximum number of looks at doubtful rows. Rows that stay doubtful belong to dead daemons.
    var doubtfulLooks = 3
}
