import Basics
import Rooms

/// Who is alive, judged by our own clock from what the daemons' rows say at each look. A value.
///
/// | a daemon | its row                                   | then                                          |
/// |----------|-------------------------------------------|-----------------------------------------------|
/// | unknown  | has counted lately, by the database's clock | alive                                       |
/// | unknown  | hasn't: somebody died and left it, or that clock was set ahead | doubtful, and soon looked at again |
/// | any      | counts on, or its packets are heard       | alive                                         |
/// | alive, doubtful | has stood still for so long           | gone; its row is to be removed                |
/// | any      | isn't there any more, though the database was never away lately | unknown: it ended, or others have given it up |
///
/// No system's clock matters, but for whether a row that nobody knew yet is believed at once or at its next beat. Time during which we
/// couldn't look proves nothing against anybody.
struct DaemonRoster {
    private enum Liveness {
        case alive, doubtful, gone
    }

    private struct Entry {
        var row: DaemonRow
        var liveness: Liveness
        /// When it was first seen, was last seen to have counted, or was heard.
        var lastSign: MonotonicTime
    }

    private let own: DaemonID
    private let timing: DaemonTiming
    private var entries: [DaemonID: Entry] = [:]
    /// The last look; `nil` when it has failed.
    private var looked: MonotonicTime?
    /// The last look after a pause.
    private var resumed: MonotonicTime?

    init(own: DaemonID, timing: DaemonTiming = DaemonTiming()) {
        self.own = own
        self.timing = timing
    }

    /// The others that are alive, in the order of their ids.
    var alive: [DaemonInfo] {
        entries.values.filter { $0.liveness == .alive }.map(\.row.info).sorted { $0.id.description < $1.id.description }
    }

    /// Whether there is a row of which the next look may say that somebody lives.
    var hasDoubts: Bool { entries.values.contains { $0.liveness == .doubtful } }

    /// Rows that have stood still for too long.
    var gone: [DaemonRow] { entries.values.filter { $0.liveness == .gone }.map(\.row) }

    /// The rows at `now`, and who has been heard on the bus since the last look.
    mutating func look(at rows: [DaemonRow], heard: Set<DaemonID> = [], now: MonotonicTime) {
        if looked.map({ now - $0 > timing.longestPause }) ?? true {
            for id in entries.keys { entries[id]?.lastSign = now }
            resumed = entries.isEmpty ? nil : now
        }
        looked = now
        // A server that has crashed may have lost rows: whose they are makes them anew.
        let mayHaveLostRows = resumed.map { now - $0 < timing.longestPause } ?? false
        var next = mayHaveLostRows ? entries : [:]
        for row in rows where row.info.id != own {
            next[row.info.id] = entry(of: row, isHeard: heard.contains(row.info.id), now)
        }
        entries = next
    }

    /// The rows couldn't be read.
    mutating func failed() {
        looked = nil
    }

    private func entry(of row: DaemonRow, isHeard: Bool, _ now: MonotonicTime) -> Entry {
        guard var entry = entries[row.info.id] else {
            return Entry(row: row, liveness: row.isFresh || isHeard ? .alive : .doubtful, lastSign: now)
        }
        let isSign = isHeard || row.beats != entry.row.beats
        entry.row = row
        if isSign { (entry.liveness, entry.lastSign) = (.alive, now) }
        if now - entry.lastSign >= timing.patience { entry.liveness = .gone }
        return entry
    }
}

/// How often a daemon says that it lives, and for how long it may be silent.
struct DaemonTiming: Sendable {
    /// Between two looks, and two beats: five seconds, and a little less, so that three of them take no longer than 15.
    var interval = Duration.milliseconds(4_950)
    /// It hasn't counted at the second look after the one that saw it count last. Not quite two intervals: looks may come early.
    var patience = Duration.milliseconds(9_500)
    /// Looks that are further apart prove nothing: we were stopped, or the database was away.
    var longestPause = Duration.seconds(8)
    /// Until a doubtful row is looked at again, at the start. Whoever lives counts on as soon as it hears of us.
    var doubtPause = Duration.milliseconds(250)
    /// So often at most: then they are rows of dead daemons, who make nobody wait.
    var doubtfulLooks = 3
}
