import Access
import Basics
import Domain
import FoundationEssentials
import Wire

/// The sessions of the extended protocol: a connection's subscriptions to stored streams, which the client's next
/// connection continues. Any thread may use it.
///
/// A session exists on this daemon only, for five minutes after its connection is lost. On another daemon, or later,
/// the client subscribes again and receives the missed messages, too.
final class CableSessions: Sendable {
    private let memory = Locked(CableSessionMemory())

    /// Begins a new session, and returns the subscriptions of the last one that continue.
    func begin(
        of device: DeviceID?, restoring last: String?, at now: MonotonicTime
    ) -> (name: String, identifiers: [CableIdentifier]) {
        // The name must be as hard to guess as a key. Half of a UUID's bits would be enough.
        let name = UUID().text
        return (name, memory.withLock { $0.begin(name, of: device, restoring: last, at: now) })
    }

    func add(_ identifier: CableIdentifier, to name: String) { memory.withLock { $0.add(identifier, to: name) } }
    func remove(_ identifier: CableIdentifier, from name: String) {
        memory.withLock { $0.remove(identifier, from: name) }
    }
    /// Records that the session's connection is lost.
    func leave(_ name: String, at now: MonotonicTime) { memory.withLock { $0.leave(name, at: now) } }
    /// Ends the session.
    func end(_ name: String) { memory.withLock { $0.end(name) } }
}

/// The sessions as a value.
///
/// ```
/// connected ──connection lost──► left ──five minutes──► forgotten
///     └──another connection continues it──────────────────▲
/// ```
struct CableSessionMemory {
    private struct Session {
        let device: DeviceID?
        /// The subscriptions in the order in which they were made.
        var identifiers: [CableIdentifier]
        var isLeft = false

        var size: Int { identifiers.reduce(200) { $0 + $1.bytes.count } }
    }

    private var sessions: [String: Session] = [:]
    /// The sessions without a connection and the times at which they end, in order of time. Some of them may have been
    /// removed from ``sessions``.
    private var left: ArraySlice<(name: String, until: MonotonicTime)> = []
    private var leftBytes = 0
    /// The number of entries in ``left`` whose sessions were removed.
    private var goneCount = 0

    var count: Int { sessions.count }
    /// The number of entries in ``left``, including those of removed sessions.
    var leftCount: Int { left.count }

    /// - Returns: The subscriptions that continue. A subscription continues even if the loss of the old connection
    ///   isn't known yet, for example when a phone reconnects.
    mutating func begin(
        _ name: String, of device: DeviceID?, restoring last: String?, at now: MonotonicTime
    ) -> [CableIdentifier] {
        expire(at: now)
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
        expire(at: now)
        guard let session = sessions[name], !session.isLeft else { return }
        // A session without subscriptions has nothing to continue.
        guard !session.identifiers.isEmpty else { return end(name) }
        sessions[name]?.isLeft = true
        left.append((name, now + CableLimits.sessionPatience))
        leftBytes += session.size
        while leftBytes > CableLimits.sessionBytes, !left.isEmpty { removeOldest() }
    }

    mutating func end(_ name: String) {
        guard let session = sessions.removeValue(forKey: name), session.isLeft else { return }
        leftBytes -= session.size
        goneCount += 1
        // Drops the entries of removed sessions, so that a client that reconnects again and again doesn't fill the
        // memory behind an older session.
        guard goneCount > left.count / 2 else { return }
        left = left.filter { sessions[$0.name] != nil }
        goneCount = 0
    }

    private mutating func expire(at now: MonotonicTime) {
        while let oldest = left.first, oldest.until <= now || sessions[oldest.name] == nil { removeOldest() }
    }

    private mutating func removeOldest() {
        guard let oldest = left.popFirst() else { return }
        if let session = sessions.removeValue(forKey: oldest.name) {
            leftBytes -= session.size
        } else {
            goneCount -= 1
        }
    }
}
