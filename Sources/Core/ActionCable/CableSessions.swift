import Access
import Basics
import Domain
import FoundationEssentials
import Wire

/// The sessions of the extended protocol: what a connection is subscribed to that keeps what is said, so that the next one of the client goes
/// on with it. Any thread; of this daemon alone, and for some minutes: at another, or later, a client subscribes anew, and misses nothing
/// either.
final class CableSessions: Sendable {
    private let memory = Locked(CableSessionMemory())

    /// A new session, and what of the last one is to go on.
    func begin(
        of device: DeviceID?, restoring last: String?, at now: MonotonicTime
    ) -> (name: String, identifiers: [CableIdentifier]) {
        // As hard to guess as a key: half of a UUID's bits would do.
        let name = UUID().text
        return (name, memory.withLock { $0.begin(name, of: device, restoring: last, at: now) })
    }

    func add(_ identifier: CableIdentifier, to name: String) { memory.withLock { $0.add(identifier, to: name) } }
    func remove(_ identifier: CableIdentifier, from name: String) {
        memory.withLock { $0.remove(identifier, from: name) }
    }
    /// Its connection is lost.
    func leave(_ name: String, at now: MonotonicTime) { memory.withLock { $0.leave(name, at: now) } }
    /// It doesn't go on.
    func end(_ name: String) { memory.withLock { $0.end(name) } }
}

/// The same as a value.
///
/// ```
/// connected ──connection lost──► left ──five minutes──► forgotten
///     └──another connection goes on with it──────────────────▲
/// ```
struct CableSessionMemory {
    private struct Session {
        let device: DeviceID?
        /// In the order in which they were subscribed to.
        var identifiers: [CableIdentifier]
        var isLeft = false

        var size: Int { identifiers.reduce(200) { $0 + $1.bytes.count } }
    }

    private var sessions: [String: Session] = [:]
    /// Those that were left, and until when they are kept, in that order; some may be gone since.
    private var left: ArraySlice<(name: String, until: MonotonicTime)> = []
    private var leftBytes = 0
    /// Of those in ``left`` so many are gone.
    private var goneCount = 0

    var count: Int { sessions.count }
    /// Also of those that are gone.
    var leftCount: Int { left.count }

    /// - Returns: What goes on. A phone comes back before its lost connection is known to be: that one's session goes on as well.
    mutating func begin(
        _ name: String, of device: DeviceID?, restoring last: String?, at now: MonotonicTime
    ) -> [CableIdentifier] {
        forget(at: now)
        var identifiers: [CableIdentifier] = []
        if let last, let session = sessions[last], session.device == device {
            identifiers = session.identifiers
            end(last)
        }
        sessions[name] = Session(device: device, identifiers: identifiers)
        return identifiers
    }

    mutating func add(_ identifier: CableIdentifier, to name: String) {
        guard let session = sessions[name], !session.identifiers.contains(identifier) else { return }
        sessions[name]?.identifiers.append(identifier)
    }

    mutating func remove(_ identifier: CableIdentifier, from name: String) {
        guard let index = sessions[name]?.identifiers.firstIndex(of: identifier) else { return }
        sessions[name]?.identifiers.remove(at: index)
    }

    mutating func leave(_ name: String, at now: MonotonicTime) {
        forget(at: now)
        guard let session = sessions[name], !session.isLeft else { return }
        // There is nothing to go on with.
        guard !session.identifiers.isEmpty else { return end(name) }
        sessions[name]?.isLeft = true
        left.append((name, now + CableLimits.sessionPatience))
        leftBytes += session.size
        while leftBytes > CableLimits.sessionBytes, !left.isEmpty { forgetOldest() }
    }

    mutating func end(_ name: String) {
        guard let session = sessions.removeValue(forKey: name), session.isLeft else { return }
        leftBytes -= session.size
        goneCount += 1
        // Who goes on again and again must not fill the memory behind the first that doesn't.
        guard goneCount > left.count / 2 else { return }
        left = left.filter { sessions[$0.name] != nil }
        goneCount = 0
    }

    private mutating func forget(at now: MonotonicTime) {
        while let oldest = left.first, oldest.until <= now || sessions[oldest.name] == nil { forgetOldest() }
    }

    private mutating func forgetOldest() {
        guard let oldest = left.popFirst() else { return }
        if let session = sessions.removeValue(forKey: oldest.name) {
            leftBytes -= session.size
        } else {
            goneCount -= 1
        }
    }
}
