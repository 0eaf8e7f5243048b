package import Domain
package import FoundationEssentials
import Postgres
import Wire

/// A task that repeats on certain days of every week, as its owner sees it.
package struct Series: Hashable, Sendable {
    package struct LaterTitle: Hashable, Sendable {
        package let title: String
        package let from: CalendarDate
    }

    package let id: UUID
    package let device: DeviceID
    package let title: String
    /// The title from a later day on, after the existing tasks. `nil` if the title doesn't change.
    package let later: LaterTitle?
    package let startTime: WallTime
    package let timeZone: String
    package let days: Weekdays
    package let until: CalendarDate?
    /// The series' future tasks in order of time.
    package var tasks: [TaskResponse]

    package var json: [UInt8] {
        var json = JSONText()
        json.object { write(to: &$0) }
        return json.bytes
    }

    fileprivate func write(to object: inout JSONText) {
        object.member("id", id.text)
        object.member("deviceId", device.text)
        object.member("title", title)
        object.member("laterTitle", later?.title)
        object.member("laterFrom", later?.from.description)
        object.member("startTime", startTime.description)
        object.member("timeZone", timeZone)
        object.name("days")
        object.array { array in
            for day in days.names { array.string(day) }
        }
        object.member("until", until?.description)
        object.name("tasks")
        object.array { array in
            for task in tasks { array.object { task.write(to: &$0) } }
        }
    }
}

extension [Series] {
    /// `{"series":[…]}`.
    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.name("series")
            object.array { array in
                for series in self { array.object { series.write(to: &$0) } }
            }
        }
        return json.bytes
    }

    /// Reads the rows of `schedule.list_series`, in which the tasks of a series are adjacent.
    init(_ rows: PostgresRows, of device: DeviceID) throws {
        self = []
        for row in rows {
            let id = try row.uuid("listed_id")
            if last?.id != id { append(try Series(row, id: id, device: device)) }
            if let task = try row.optionalString("code") == nil ? nil : TaskRow(row).decided().0 {
                self[count - 1].tasks.append(task)
            }
        }
    }
}

extension Series {
    fileprivate init(_ row: PostgresRow, id: UUID, device: DeviceID) throws {
        self.id = id
        self.device = device
        title = try row.string("listed_title")
        later = try row.optionalString("later_title").map {
            LaterTitle(title: $0, from: CalendarDate(days: try row.integer("later_from")))
        }
        startTime = WallTime(seconds: try row.integer("wall_time"))
        timeZone = try row.string("listed_zone")
        days = Weekdays(rawValue: try row.integer("days"))
        until = try row.optionalInteger("until").map { CalendarDate(days: $0) }
        tasks = []
    }
}
