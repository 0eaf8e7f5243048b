package import Domain
import Postgres

/// The device and the slot of a request that registers or cancels a task.
package struct SlotRequest: Hashable, Sendable {
    package let device: DeviceID
    package private(set) var timeZone: String
    package let slot: RequestedSlot

    package init(device: DeviceID, timeZone: String, slot: RequestedSlot) {
        self.device = device
        self.timeZone = timeZone
        self.slot = slot
    }
}

extension SlotRequest {
    /// Throws `invalid_request` with the name of the invalid field.
    init(_ members: RequestFields) throws {
        device = try DeviceID(members.text("deviceId"))
        timeZone = try members.optionalText("timeZone") ?? "UTC"
        slot = try RequestedSlot(members)
    }

    /// Spells the time zone as IANA does. Throws `invalid_request` if it is unknown.
    mutating func spellZone(_ zones: TimeZoneNames) throws(RequestError) {
        timeZone = try zones.known(timeZone)
    }
}

/// The requested slot. PostgreSQL, which knows the time zones, computes the instant.
package enum RequestedSlot: Hashable, Sendable {
    case at(Instant)
    case on(RequestedDay, WallTime)
}

extension RequestedSlot {
    /// Throws `invalid_request` with the name of the invalid field. `startsAt` overrides `date` and `startTime`.
    init(_ members: RequestFields) throws {
        if let text = try members.optionalText("startsAt") {
            guard let instant = Instant(text) else {
                throw RequestError.invalid("startsAt", "must be an instant like 2026-11-22T09:00:00Z")
            }
            self = .at(instant)
            return
        }
        guard let day = RequestedDay(try members.text("date")) else {
            throw RequestError.invalid(
                "date", "must be the device's midnight like 2026-11-22T00:00:00Z, or a date like 2026-11-22")
        }
        self = .on(day, try members.wallTime("startTime"))
    }

    /// The parameters of the SQL functions: instant, midnight, day, time. NULL for values that the request doesn't
    /// have.
    var parameters: [PostgresParameter] {
        switch self {
        case .at(let instant): [.integer(instant.seconds), .null, .null, .null]
        case .on(.midnight(let midnight), let time): [.null, .integer(midnight.seconds), .null, .integer(time.seconds)]
        case .on(.date(let date), let time): [.null, .null, .integer(date.days), .integer(time.seconds)]
        }
    }
}

extension SlotRequest {
    /// The time zone and the slot as parameters of the SQL functions.
    var parameters: [PostgresParameter] { [.text(timeZone)] + slot.parameters }
}
