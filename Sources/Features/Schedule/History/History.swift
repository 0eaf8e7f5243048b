package import Domain
package import FoundationEssentials
import Wire

/// The tasks of a device's last weeks and how they went, for this device only: `GET /history`.
package struct History: Hashable, Sendable {
    /// The outcome of a task.
    package enum Outcome: String, Sendable {
        /// The user reported the start, or came to the room.
        case kept
        /// The user didn't do either, and the partner had left.
        case dissolved = "letDown"
        case missed
    }

    /// Whether the user came to the task's room.
    package enum Attendance: String, Sendable {
        case came
        /// The user came after the start.
        case late
        case absent
    }

    package struct Entry: Hashable, Sendable {
        package let id: UUID
        package let title: String
        package let startTime: String
        package let timeZone: String
        package let startsAt: Instant
        /// The time at which the user reported the start. `nil` if the user didn't.
        package let startedAt: Instant?
        /// The outcome. `nil` while the room is open.
        package let outcome: Outcome?
        /// Whether the partner left or didn't come.
        package let wasDissolved: Bool
        /// The attendance. `nil` while the room is open.
        package var attendance: Attendance?
        /// The partner's title. `nil` without a partner or if the partner was erased.
        package var partnerTask: String?
    }

    /// The entries, the latest first.
    package let entries: [Entry]

    package func count(_ outcome: Outcome) -> Int { entries.count { $0.outcome == outcome } }

    package var timesDissolved: Int { entries.count { $0.wasDissolved } }

    /// The number of kept tasks in a row, up to the latest. A task whose partner left neither counts nor ends the row.
    package var streak: Int {
        var streak = 0
        for entry in entries {
            switch entry.outcome {
            case .kept: streak += 1
            case .missed: return streak
            case .dissolved, nil: break
            }
        }
        return streak
    }

    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("kept", count(.kept))
            object.member("missed", count(.missed))
            object.member("letDown", timesDissolved)
            object.member("streak", streak)
            object.name("tasks")
            object.array { array in
                for entry in entries { array.object { entry.write(to: &$0) } }
            }
        }
        return json.bytes
    }
}

extension History.Entry {
    fileprivate func write(to object: inout JSONText) {
        object.member("id", id.text)
        object.member("title", title)
        object.member("startTime", startTime)
        object.member("timeZone", timeZone)
        object.member("startsAt", startsAt.description)
        object.member("startedAt", startedAt?.description)
        object.member("outcome", outcome?.rawValue)
        object.member("attendance", attendance?.rawValue)
        object.member("partnerTask", partnerTask)
        if wasDissolved { object.member("letDown", true) }
    }
}
