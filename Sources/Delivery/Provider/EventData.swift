import Domain
import FoundationEssentials
import Postgres
import Wire

/// What an event tells: the `data` of the webhook's message. Which members there are goes by the event's type.
struct EventData {
    /// Grows in the order of the facts.
    private let number: Int
    /// The tag of the device whose it is.
    private let person: String?
    /// Of the tasks, in their order; empty where nobody knows any more.
    private let people: [String]
    /// A task's, or a match's two.
    private let taskIds: [String]
    /// The tasks of those who were in the room that is over.
    private let came: [String]?
    private let peers: Int?
    private let roomId: String?
    private let startsAt: Instant?
    private let closesAt: Instant?
    private let title: String?
    private let startTime: String?
    private let timeZone: String?

    /// nil for a delivery that is no event's.
    init?(_ row: PostgresRow) throws {
        guard let number = try row.optionalInteger("number") else { return nil }
        self.number = number
        person = try row.optionalString("person")
        people = try Self.list(row, "people") ?? []
        taskIds = try Self.list(row, "task_ids")?.map { $0.uppercased() } ?? []
        came = try Self.list(row, "came")?.map { $0.uppercased() }
        peers = try row.optionalInteger("peers")
        roomId = try row.optionalUUID("room_id")?.uuidString
        startsAt = try row.optionalInteger("starts_at").map { Instant(seconds: $0) }
        closesAt = try row.optionalInteger("closes_at").map { Instant(seconds: $0) }
        title = try row.optionalString("title")
        startTime = try row.optionalString("start_time")
        timeZone = try row.optionalString("time_zone")
    }

    private static func list(_ row: PostgresRow, _ column: String) throws -> [String]? {
        guard let text = try row.optionalString(column) else { return nil }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }

    /// - Parameter reminder: A reminder as every provider sends it, a JSON object, to which number and person are added.
    func json(_ type: String, reminder: String?) -> String {
        var json = JSONText()
        json.object { object in
            object.member("number", number)
            object.member("person", person)
            guard reminder == nil else { return }
            object.member("roomId", roomId)
            switch type {
            case "match.created", "match.ended", "room.opened", "room.closed": addMatch(type, to: &object)
            case "room.joined", "room.left":
                object.member("taskId", taskIds.first)
                if let peers { object.member("peers", peers) }
            default:
                object.member("taskId", taskIds.first)
                object.member("title", title)
                object.member("startsAt", startsAt?.description)
                object.member("startTime", startTime)
                object.member("timeZone", timeZone)
            }
        }
        let text = String(decoding: json.bytes, as: UTF8.self)
        guard let reminder else { return text }
        return "\(reminder.dropLast()),\(text.dropFirst())"
    }

    private func addMatch(_ type: String, to object: inout JSONText) {
        object.name("taskIds")
        object.array { array in for task in taskIds { array.string(task) } }
        object.name("people")
        object.object { object in
            for (task, person) in zip(taskIds, people) where !person.isEmpty { object.member(task, person) }
        }
        object.member("startsAt", startsAt?.description)
        if type == "room.opened" { object.member("closesAt", closesAt?.description) }
        guard type == "room.closed" else { return }
        object.name("came")
        object.array { array in for task in came ?? [] { array.string(task) } }
        object.member("mostPeers", peers ?? 0)
    }
}
