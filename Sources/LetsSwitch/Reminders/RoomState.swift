import Postgres

/// What a room's UUID means to the database. Epoch seconds, by the database's clock.
package enum RoomState: Hashable, Sendable {
    case open(closesAt: Double)
    /// `403`; `opensAt` may be past for a moment, while the claim is under way.
    case notOpen(opensAt: Double, now: Double)
    /// `410`.
    case closed
    /// `404`.
    case unknown
}

extension RoomState {
    init(_ row: PostgresRow) throws {
        switch try row.string("state") {
        case "open": self = .open(closesAt: try row.double("closes_at"))
        case "not_open": self = .notOpen(opensAt: try row.double("opens_at"), now: try row.double("now"))
        case "closed": self = .closed
        case "unknown": self = .unknown
        default: throw PostgresError(kind: .decoding, message: "column state is no state of a room")
        }
    }
}
