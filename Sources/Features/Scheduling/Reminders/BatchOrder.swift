import Basics

/// In which order this daemon makes claims known to its rooms and streams: that of their batches, whoever claimed them, because
/// a reader that comes again names the last reminder it saw, and means all before it too. A value.
///
/// ```
/// offered ──(next)──────────────────────► released, in order
///    └──(something is missing)──► held ──(it came)──► released, in order
///                                  └──(patience)────► released early: streams are told that what was before is yet to come
/// ```
struct BatchOrder {
    /// How long a batch waits for those before it. A reminder is worth something for a minute, so not for long.
    static let patience = Duration.milliseconds(200)
    /// Batches that wait; with more, all go out early.
    static let heldLimit = 32
    /// Batches that went out early and are remembered. Of one that is forgotten the streams, which look at each reminder's
    /// place, send nothing twice either.
    static let earlyLimit = 1000

    /// A claim whose turn has come.
    struct Release: Equatable {
        package let claim: ClaimedBatch
        /// Of this batch and all before it everybody here was told before.
        package let settled: Int
    }

    /// Of this batch and all before it everybody here was told; nil before anything is known of the database.
    private(set) var settled: Int?
    /// The newest batch that was heard of.
    private(set) var announced = 0
    private var held: [Int: ClaimedBatch] = [:]
    private var heldSince: MonotonicTime?
    private var early: Set<Int> = []

    /// What is yet to be asked for: batches after the first, up to the second. Nil before anything is known of the database,
    /// and when nothing is missing.
    var gap: (after: Int, upTo: Int)? {
        guard let settled, announced > settled else { return nil }
        // What is held or went out early need not be asked for, as far as it stands at the end.
        let upTo = (settled + 1...announced).reversed().first { held[$0] == nil && !early.contains($0) }
        return upTo.map { (settled, $0) }
    }

    /// When what is held goes out early.
    var overdueAt: MonotonicTime? { heldSince.map { $0 + Self.patience } }

    /// There is such a batch.
    mutating func announce(_ batch: Int) {
        announced = max(announced, batch)
    }

    /// Of what was heard of, nothing later than `batch` is true.
    mutating func correct(announced batch: Int) {
        announced = max(batch, settled ?? 0, held.keys.max() ?? 0, early.max() ?? 0)
    }

    /// A claim is known whole.
    mutating func offer(_ claim: ClaimedBatch, at now: MonotonicTime) -> [Release] {
        announce(claim.batch)
        guard claim.batch > settled ?? 0, !early.contains(claim.batch) else { return [] }
        held[claim.batch] = claim
        var released = advance()
        if held.isEmpty {
            heldSince = nil
        } else {
            heldSince = heldSince ?? now
            if held.count > Self.heldLimit { released += releaseHeld() }
        }
        return released
    }

    /// All claims there are up to `batch`, after those that were settled when they were asked for.
    mutating func fill(_ claims: [ClaimedBatch], upTo batch: Int) -> [Release] {
        announce(batch)
        var released: [Release] = []
        for claim in claims where claim.batch > settled ?? 0 && !early.contains(claim.batch) {
            released.append(Release(claim: claim, settled: max(settled ?? 0, claim.batch - 1)))
            held[claim.batch] = nil
            settled = claim.batch
        }
        return released + settle(batch)
    }

    /// Rooms and streams were told of all that there is up to `batch`.
    mutating func settle(_ batch: Int) -> [Release] {
        announce(batch)
        settled = max(settled ?? 0, batch)
        early = early.filter { $0 > batch }
        // They open the rooms once more, which is no matter, and the streams know what they have sent.
        let past = held.keys.filter { $0 <= batch }.sorted().compactMap { held.removeValue(forKey: $0) }
        let released = past.map { Release(claim: $0, settled: batch) } + advance()
        if held.isEmpty { heldSince = nil }
        return released
    }

    /// Lets go what has waited too long.
    mutating func releaseOverdue(at now: MonotonicTime) -> [Release] {
        guard let overdueAt, overdueAt <= now else { return [] }
        return releaseHeld()
    }

    /// The database was restored: it counts again, from a lower number.
    mutating func restart(at batch: Int) {
        self = BatchOrder()
        settled = batch
        announced = batch
    }

    /// Takes what follows what is settled.
    private mutating func advance() -> [Release] {
        guard var last = settled else { return [] }
        var released: [Release] = []
        while true {
            if let claim = held.removeValue(forKey: last + 1) {
                released.append(Release(claim: claim, settled: last))
            } else if early.remove(last + 1) == nil {
                break
            }
            last += 1
        }
        settled = last
        return released
    }

    private mutating func releaseHeld() -> [Release] {
        let batches = held.keys.sorted()
        let released = batches.compactMap { held[$0] }.map { Release(claim: $0, settled: settled ?? 0) }
        early.formUnion(batches)
        if early.count > Self.earlyLimit { early = Set(early.sorted().suffix(Self.earlyLimit)) }
        held = [:]
        heldSince = nil
        return released
    }
}
