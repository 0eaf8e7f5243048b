import Basics

/// The order in which this daemon makes claims known to its rooms and streams. It is the order of their batches, because a
/// reader that reconnects names the last reminder that it saw, and with it all earlier ones. A value.
///
/// ```
/// offered ──(next)──────────────────────► released, in order
///    └──(something is missing)──► held ──(it came)──► released, in order
///                                  └──(patience)────► released early: streams are told that what was before is yet to come
/// ```
struct BatchOrder {
    /// How long a batch waits for earlier ones. Short, because a reminder is useful for only a minute.
    static let patience = Duration.milliseconds(200)
    /// The maximum number of waiting batches. With more, all are released early.
    static let heldLimit = 32
    /// The maximum number of early batches that are remembered. For others, the streams check each reminder's position,
    /// so nothing is sent twice.
    static let earlyLimit = 1000

    /// A claim to make known.
    struct Release: Equatable {
        package let claim: ClaimedBatch
        /// Everything up to this batch was made known before.
        package let settled: Int
    }

    /// Everything up to this batch was made known. `nil` until the database was read.
    private(set) var settled: Int?
    /// The newest announced batch.
    private(set) var announced = 0
    private var held: [Int: ClaimedBatch] = [:]
    private var heldSince: MonotonicTime?
    private var early: Set<Int> = []

    /// The batches to read: after the first, up to the second. `nil` until the database was read, and if nothing is
    /// missing.
    var gap: (after: Int, upTo: Int)? {
        guard let settled, announced > settled else { return nil }
        // Batches at the end that are held or were released early need not be read.
        let upTo = (settled + 1...announced).reversed().first { held[$0] == nil && !early.contains($0) }
        return upTo.map { (settled, $0) }
    }

    /// When held batches are released early.
    var overdueAt: MonotonicTime? { heldSince.map { $0 + Self.patience } }

    /// Records that the batch exists.
    mutating func announce(_ batch: Int) {
        announced = max(announced, batch)
    }

    /// Corrects the newest announced batch, which doesn't exist.
    mutating func correct(announced batch: Int) {
        announced = max(batch, settled ?? 0, held.keys.max() ?? 0, early.max() ?? 0)
    }

    /// Adds a complete claim.
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

    /// Adds all claims up to `batch` that follow the settled ones at the time of the query.
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

    /// Records that rooms and streams know everything up to `batch`.
    mutating func settle(_ batch: Int) -> [Release] {
        announce(batch)
        settled = max(settled ?? 0, batch)
        early = early.filter { $0 > batch }
        // These open the rooms once more, which is harmless. The streams know what they have sent.
        let past = held.keys.filter { $0 <= batch }.sorted().compactMap { held.removeValue(forKey: $0) }
        let released = past.map { Release(claim: $0, settled: batch) } + advance()
        if held.isEmpty { heldSince = nil }
        return released
    }

    /// Releases what has waited too long.
    mutating func releaseOverdue(at now: MonotonicTime) -> [Release] {
        guard let overdueAt, overdueAt <= now else { return [] }
        return releaseHeld()
    }

    /// The database was restored, and its numbers start again from a lower one.
    mutating func restart(at batch: Int) {
        self = BatchOrder()
        settled = batch
        announced = batch
    }

    /// Takes the batches that follow the settled ones.
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
