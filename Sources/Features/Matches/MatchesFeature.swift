package import ActionCable
package import Basics
package import CEmbedded
package import Domain
package import Features
package import Observability
import Postgres
package import Reminders
import Rooms
package import Server

/// The rooms of matches, in which people send each other ales, and their attendance.
package struct MatchesFeature: Feature {
    /// The names of the feature's statements, for metrics.
    package static let statementNames = AttendanceStore.statementNames
    package static let notificationChannels = [MatchRooms.erasedTasksChannel]
    package static let schema: FeatureSchema? = MatchSchema.schema
    package static var examples: EmbeddedFile? { EmbeddedFile.matches_examples_txt }
    package static let messages = AleDescriptions.schemas

    package let routes: [any RouteCollection]
    package let channels: [any CableChannel]
    private let matches: MatchRooms
    private let metrics = RoomMetrics()
    private let attendance: AttendanceWriter

    /// - Parameters:
    ///   - reminders: Knows the rooms in the database.
    ///   - attendance: Receives the people who enter and leave the rooms of `context`.
    ///   - defaultHandler: Handles WebSockets that name no room. If it is `nil`, they are refused.
    package init(
        _ settings: MatchSettings, reminders: RemindersFeature, attendance: AttendanceWriter,
        defaultHandler: (any DefaultSocketHandler)?, _ context: FeatureContext
    ) {
        self.attendance = attendance
        matches = MatchRooms(
            rooms: context.rooms, keys: context.keys, policy: .match(capacity: settings.roomSize), metrics: metrics,
            store: reminders.store, scheduler: reminders.scheduler)
        routes = [AleController(matches, defaultHandler: defaultHandler)]
        channels = [RoomChannel(matches: matches)]
    }

    package func receive(_ payload: String, from channel: String) {
        matches.endTasks(payload)
    }

    package var services: [any Service] { [AttendanceService(rooms: matches.rooms, writer: attendance)] }

    package func writeAgain() async {
        await attendance.reportAgain(matches.rooms.callRoll)
    }

    package func disconnect(_ device: DeviceID) {
        matches.end(device)
    }

    package func writeMetrics(to text: inout MetricsText) {
        text.counter(
            "letsswitch_cable_ales_left_out_total",
            "Number of ales not sent to /cable clients that hadn't read earlier ales.", metrics.alesLeftOut.value)
    }

    package var turnedAway: [MetricSample<Int>] { [MetricSample(["cause": "room-size"], metrics.turnedAway.value)] }
}
