import Domain
import FoundationEssentials
import ScheduleTestSupport
import Testing

@testable import Schedule

extension ScheduleDatabase {
    func series(_ change: (inout ScheduleSettings) -> Void = { _ in }) -> SeriesStore {
        var settings = ScheduleSettings()
        change(&settings)
        return SeriesStore(database: client, settings: settings)
    }

    /// Returns a request for a series, by default on all days of the week.
    static func series(
        _ device: String, at time: String = "09:00", in zone: String = "Europe/London", on days: [String]? = nil,
        until: String? = nil, title: String = "History"
    ) throws -> SeriesRequest {
        let wall = try #require(WallTime(time))
        let days = try #require(Weekdays(names: days ?? Weekdays.names))
        return SeriesRequest(
            device: DeviceID(stored: device), title: title, startTime: wall, timeZone: zone, days: days,
            until: until.flatMap { CalendarDate($0) })
    }
}

extension Series {
    var starts: [String] { tasks.map(\.startsAt.description) }
    var own: OwnSeries { OwnSeries(id: id, device: device) }

    func task(_ startsAt: String) -> TaskResponse? { tasks.first { $0.startsAt.description == startsAt } }
}
