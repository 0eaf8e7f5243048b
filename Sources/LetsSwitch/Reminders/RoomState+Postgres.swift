import Postgres
import Rooms

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
