import Domain
import Postgres

extension SlotRequest {
    /// Zone and wish, as the SQL functions take them: zone, instant, midnight, day, time; NULL for what the wish isn't.
    var parameters: [PostgresParameter] {
        switch slot {
        case .at(let instant):
            [.text(timeZone), .integer(instant.seconds), .null, .null, .null]
        case .on(.midnight(let midnight), let time):
            [.text(timeZone), .null, .integer(midnight.seconds), .null, .integer(time.seconds)]
        case .on(.date(let date), let time):
            [.text(timeZone), .null, .null, .integer(date.days), .integer(time.seconds)]
        }
    }
}
