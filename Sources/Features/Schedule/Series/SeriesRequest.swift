package import Domain
package import FoundationEssentials

/// The body of `POST /series`.
package struct SeriesRequest: Hashable, Sendable {
    package let device: DeviceID
    package let title: String
    package let startTime: WallTime
    package private(set) var timeZone: String
    package let days: Weekdays
    /// The last day. `nil` if the series has no end.
    package let until: CalendarDate?

    package init(
        device: DeviceID, title: String, startTime: WallTime, timeZone: String, days: Weekdays,
        until: CalendarDate? = nil
    ) {
        self.device = device
        self.title = title
        self.startTime = startTime
        self.timeZone = timeZone
        self.days = days
        self.until = until
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package static func decode(_ body: [UInt8], zones: TimeZoneNames) throws(RequestError) -> SeriesRequest {
        var request = try RequestFields.decode(SeriesRequest.self, from: body)
        request.timeZone = try zones.known(request.timeZone)
        return request
    }
}

extension SeriesRequest: Decodable {
    package init(from decoder: any Decoder) throws {
        let members = try RequestFields(decoder)
        device = try DeviceID(members.text("deviceId"))
        title = try members.title()
        startTime = try members.wallTime("startTime")
        timeZone = try members.text("timeZone")
        guard let days = try members.optionalTexts("days").flatMap(Weekdays.init(names:)) else {
            throw RequestError.invalid("days", #"must be a list of weekdays like ["mon","wed"]"#)
        }
        self.days = days
        until = try members.optionalDay("until")
    }
}

/// The body of `POST /series/{id}`: a new title from a day on.
package struct SeriesRenaming: Hashable, Sendable {
    package let series: OwnSeries
    package let title: String
    /// The first day with the new title. `nil` for today.
    package let from: CalendarDate?

    package init(series: OwnSeries, title: String, from: CalendarDate? = nil) {
        self.series = series
        self.title = title
        self.from = from
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package static func decode(id: String, _ body: [UInt8]) throws(RequestError) -> SeriesRenaming {
        let body = try RequestFields.decode(Body.self, from: body)
        return SeriesRenaming(
            series: try OwnSeries(id: id, deviceId: body.deviceId), title: body.title, from: body.from)
    }

    private struct Body: Decodable {
        let deviceId: String
        let title: String
        let from: CalendarDate?

        init(from decoder: any Decoder) throws {
            let members = try RequestFields(decoder)
            deviceId = try members.text("deviceId")
            title = try members.title()
            from = try members.optionalDay("from")
        }
    }
}

/// A series of the calling device.
package struct OwnSeries: Hashable, Sendable {
    package let id: UUID
    package let device: DeviceID

    package init(id: UUID, device: DeviceID) {
        self.id = id
        self.device = device
    }

    /// Reads the path and the query. The id may have either case. Throws `invalid_request` with the name of the invalid
    /// field.
    package init(id: String, deviceId: String?) throws(RequestError) {
        guard let id = UUID(text: id) else { throw .invalid("id", "must be the UUID of a series") }
        self.init(id: id, device: try DeviceID(deviceId))
    }
}

extension RequestFields {
    fileprivate func optionalDay(_ member: String) throws -> CalendarDate? {
        guard let text = try optionalText(member) else { return nil }
        guard let day = CalendarDate(text) else {
            throw RequestError.invalid(member, "must be a date like 2026-11-22")
        }
        return day
    }
}
