import FoundationEssentials
import Rooms

/// Who is in rooms on this daemon, as far as the database was told.
struct ReportedPeers: Sendable {
    /// Those of one room who say the same of themselves.
    struct Place: Hashable, Sendable {
        let room: UUID
        let claimedIdentity: UUID?
    }

    private(set) var connections: [Place: Int] = [:]
    private var lastReport = 0

    /// What a report has said; nothing if that one was taken in before.
    mutating func take(_ events: [PresenceEvent], of report: Int) {
        guard report > lastReport else { return }
        lastReport = report
        for event in events {
            let place = Place(room: event.room, claimedIdentity: event.claimedIdentity)
            let count = (connections[place] ?? 0) + (event.kind == .joined ? 1 : -1)
            connections[place] = count > 0 ? count : nil
        }
    }
}
