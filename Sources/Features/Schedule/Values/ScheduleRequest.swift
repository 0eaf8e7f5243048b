package import Domain

/// A request of `POST /schedule` or `GET /schedule`.
package struct ScheduleRequest: Hashable, Sendable {
    package let device: DeviceID
    package let day: RequestedDay
    /// `nil` for the time zone of the device's latest task.
    package let timeZone: String?

    /// Throws `invalid_request` with the name of the invalid field.
    package static func decode(_ body: [UInt8], zones: TimeZoneNames) throws(RequestError) -> ScheduleRequest {
        let members = try RequestFields.decode(Body.self, from: body)
        return try ScheduleRequest(
            deviceId: members.deviceId, date: members.date, timeZone: members.timeZone, zones: zones)
    }

    package init(device: DeviceID, day: RequestedDay, timeZone: String?) {
        self.device = device
        self.day = day
        self.timeZone = timeZone
    }

    /// Reads the parameters of a query, which are `nil` if missing. Throws `invalid_request` with the name of the
    /// invalid field.
    package init(deviceId: String?, date: String?, timeZone: String?, zones: TimeZoneNames) throws(RequestError) {
        device = try DeviceID(deviceId)
        guard let date else { throw .invalid("date", "is missing") }
        guard let day = RequestedDay(date) else {
            throw .invalid("date", "must be a date like 2026-11-22, or the device's midnight as an instant")
        }
        self.day = day
        self.timeZone = try timeZone.map(zones.known)
    }

    private struct Body: Decodable {
        let deviceId: String?
        let date: String?
        let timeZone: String?

        init(from decoder: any Decoder) throws {
            let members = try RequestFields(decoder)
            deviceId = try members.optionalText("deviceId")
            date = try members.optionalText("date")
            timeZone = try members.optionalText("timeZone")
        }
    }
}

/// The requested day.
package enum RequestedDay: Hashable, Sendable {
    /// The instant at which the day begins for the device.
    case midnight(Instant)
    /// A date in the request's time zone.
    case date(CalendarDate)

    /// Reads an instant or a date.
    package init?(_ text: String) {
        if let instant = Instant(text) {
            self = .midnight(instant)
        } else if let date = CalendarDate(text) {
            self = .date(date)
        } else {
            return nil
        }
    }
}
