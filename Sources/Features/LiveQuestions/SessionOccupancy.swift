import Basics
package import FoundationEssentials

/// How many are in which session, on all loops of this daemon. Any thread.
package final class SessionOccupancy: Sendable {
    private let counts = Locked<[UUID: Int]>([:])
    /// Sockets of a session.
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func count(in session: UUID) -> Int {
        counts.withLock { $0[session] ?? 0 }
    }

    /// In all sessions.
    package var total: Int { counts.withLock { $0.values.reduce(0, +) } }

    package func isFull(_ session: UUID) -> Bool {
        count(in: session) >= limit
    }

    /// - Returns: Whether there was a place.
    func enter(_ session: UUID) -> Bool {
        counts.withLock { counts in
            let count = counts[session] ?? 0
            guard count < limit else { return false }
            counts[session] = count + 1
            return true
        }
    }

    /// - Returns: Whether it was the last one.
    func leave(_ session: UUID) -> Bool {
        counts.withLock { counts in
            guard let count = counts[session] else { return false }
            counts[session] = count > 1 ? count - 1 : nil
            return count <= 1
        }
    }
}
