import Basics

/// Decides in which order this daemon publishes claims: opens their rooms, and sends their reminders to event streams.
/// Claims are published in the order of their batch numbers. A reconnecting reader names the last reminder that it
/// received, and receives only later ones. So it must have received all earlier reminders. A value type.
///
/// ```
/// offered ──(next)──────────────────────► released, in order
///    └──(a batch is missing)──► held ──(the batch came)──► released, in order
///                                └──(patience is over)───► released early: earlier batches may still follow
/// ```
struct BatchOrder {
    /// The time for which a batch waits for earlier ones. It is short because a reminder is useful for only a minute.
    static let patience = Duration.milliseconds(200)
    /// The maximum number of waiting batches. With more, all are released early.
    static let heldLimit = 32
    /// The maximum number of remembered early batches. A batch that isn't remembered may be released again. The streams
    /// check the position of each reminder, so no reminder is sent twice.
    static let earlyLimit = 1000

    /// A claim to publish.
    struct Release: Equatable {
        package let claim: ClaimedBatch
        /// All batches with this number or a lower one were already published.
        package let settled: Int
    }

    /// All batches with this number or a lower one were published. `nil` until the first query of the database has
    /// returned.
    private(set) var settled: Int?
    /// The number of the newest announced batch.
    private(set) var announced = 0
    private var held: [Int: ClaimedBatch] = [:]
    private var heldSince: MonotonicTime?
    private var early: Set<Int> = []

    /// The range of batches to read from the database: those after number `after`, up to number `upTo`. `nil` if no
    /// batch is missing, and until the first query has returned.
    var gap: (after: Int, upTo: Int)? {
        guard let settled, announced > settled else { return nil }
        // If the last batches of the range are held or early, they needn't be read.
        let upTo = (settled + 1...announced).reversed().first { held[$0] == nil && !early.contains($0) }
        return upTo.map { (settled, $0) }
    }

    /// The time at which held batches are released early. `nil` if none are held.
    var overdueAt: MonotonicTime? { heldSince.map { $0 + Self.patience } }

    /// Records that the batch exists.
    mutating func announce(_ batch: Int) {
        announced = max(announced, batch)
    }

    /// Lowers the number of the newest announced batch, because the announced batch doesn't exist.
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

    /// Adds the result of a query: all claims after the settled ones, up to `batch`.
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

    /// Records that all batches up to this one were published.
    mutating func settle(_ batch: Int) -> [Release] {
        announce(batch)
        settled = max(settled ?? 0, batch)
        early = early.filter { $0 > batch }
        // Releasing these batches opens their rooms once more, which is harmless. The streams don't send a reminder
        // twice.
        let past = held.keys.filter { $0 <= batch }.sorted().compactMap { held.removeValue(forKey: $0) }
        let released = past.map { Release(claim: $0, settled: batch) } + advance()
        if held.isEmpty { heldSince = nil }
        return released
    }

    /// Releases held batches that have waited too long.
    mutating func releaseOverdue(at now: MonotonicTime) -> [Release] {
        guard let overdueAt, overdueAt <= now else { return [] }
        return releaseHeld()
    }

    /// Starts again from a lower number, because the database was restored.
    mutating func restart(at batch: Int) {
        self = BatchOrder()
        settled = batch
        announced = batch
    }

    /// Releases the held batches that directly follow the settled ones.
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
