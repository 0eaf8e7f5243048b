package import Domain
package import FoundationEssentials
import Wire

/// How a device's last weeks went, for itself alone: `GET /history`.
package struct History: Hashable, Sendable {
    /// What became of a task.
    package enum Outcome: String, Sendable {
        /// Its person said that it had started, or came to the room.
        case kept
        /// Its person didn't, after the partner had left.
        case letDown
        case missed
    }

    /// Whether a task's person came to its room.
    package enum Attendance: String, Sendable {
        case came
        /// After the start.
        case late
        case absent
    }

    package struct Entry: Hashable, Sendable {
        package let id: UUID
        package let title: String
        package let startTime: String
        package let timeZone: String
        package let startsAt: Instant
        /// When its person said that it had started.
        package let startedAt: Instant?
        /// Nil: the room is still open.
        package let outcome: Outcome?
        /// The partner left, or didn't come.
        package let wasLetDown: Bool
        /// Nil: the room is still open.
        package var attendance: Attendance?
        /// What the partner promised; nil without one, or when the partner isn't here any more.
        package var partnerTask: String?
    }

    /// The latest first.
    package let entries: [Entry]

    package func count(_ outcome: Outcome) -> Int { entries.count { $0.outcome == outcome } }

    package var timesLetDown: Int { entries.count { $0.wasLetDown } }

    /// Promises kept one after another, up to the latest. One that somebody else broke ends nothing, and counts for nothing.
    package var streak: Int {
        var streak = 0
        for entry in entries {
            switch entry.outcome {
            case .kept: streak += 1
            case .missed: return streak
            case .letDown, nil: break
            }
        }
        return streak
    }

    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("kept", count(.kept))
            object.member("missed", count(.missed))
            object.member("letDown", timesLetDown)
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
        if wasLetDown { object.member("letDown", true) }
    }
}
