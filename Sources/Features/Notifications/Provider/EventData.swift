import Domain
import FoundationEssentials
import Postgres
import Wire

/// The data of an event: `data` in the webhook's message.
struct EventData {
    /// The number of the event. It increases in the order of events.
    private let number: Int
    /// The tag of the device that the event concerns.
    private let person: String?
    private let facts: Facts

    /// The fields that depend on the event's type.
    fileprivate enum Facts {
        /// None. A reminder has its own fields.
        case reminder
        case task(TaskFacts)
        case match(MatchFacts)
        case opened(MatchFacts, closesAt: Instant?)
        /// The match, the tasks of the users who were in the room, and the maximum number of people there.
        case closed(MatchFacts, came: [String], mostPeers: Int)
        /// A member entered or left the room. `task` is `nil` if the member named no task.
        case passage(room: String?, task: String?, peers: Int?)
        case erased
        /// An event type of another build: the task, if this build can read it.
        case unknown(TaskFacts)
    }

    /// A task. Its texts are missing if its device was erased.
    fileprivate struct TaskFacts {
        let room: String?
        let task: String?
        let title: String?
        let startsAt: Instant?
        let startTime: String?
        let timeZone: String?

        init(_ row: PostgresRow, tasks: [String]) throws {
            room = try row.optionalUUID("room_id")?.text
            task = tasks.first
            title = try row.optionalString("title")
            startsAt = try row.optionalInstant("starts_at")
            startTime = try row.optionalString("start_time")
            timeZone = try row.optionalString("time_zone")
        }

        func write(to object: inout JSONText) {
            object.member("roomId", room)
            object.member("taskId", task)
            object.member("title", title)
            object.member("startsAt", startsAt?.description)
            object.member("startTime", startTime)
            object.member("timeZone", timeZone)
        }
    }

    fileprivate struct MatchFacts {
        let room: String?
        /// The match's two tasks.
        let tasks: [String]
        /// The tags of the tasks' owners, in the same order. Empty for an erased owner.
        let people: [String]
        let startsAt: Instant?

        init(_ row: PostgresRow, tasks: [String]) throws {
            room = try row.optionalUUID("room_id")?.text
            self.tasks = tasks
            people = try row.list("people") ?? []
            startsAt = try row.optionalInstant("starts_at")
        }

        func write(to object: inout JSONText) {
            object.member("roomId", room)
            object.name("taskIds")
            object.array { array in for task in tasks { array.string(task) } }
            object.name("people")
            object.object { object in
                for (task, person) in zip(tasks, people) where !person.isEmpty { object.member(task, person) }
            }
            object.member("startsAt", startsAt?.description)
        }
    }

    /// Returns `nil` for a delivery that isn't an event.
    ///
    /// - Parameter type: The event's type. `nil` for a reminder.
    init?(_ row: PostgresRow, _ type: String?) throws {
        guard let number = try row.optionalInteger("number") else { return nil }
        self.number = number
        person = try row.optionalString("person")
        facts = try type.map { try Facts(row, EventType(rawValue: $0)) } ?? .reminder
    }

    /// Returns the data as JSON.
    ///
    /// - Parameter reminder: A reminder's JSON object, to which the event's fields are added.
    func json(reminder: String? = nil) -> String {
        var json = JSONText()
        json.object { object in
            object.member("number", number)
            object.member("person", person)
            facts.write(to: &object)
        }
        let text = String(decoding: json.bytes, as: UTF8.self)
        guard let reminder else { return text }
        return "\(reminder.dropLast()),\(text.dropFirst())"
    }
}

extension EventData.Facts {
    /// - Parameter type: The event's type. `nil` if this build doesn't know it.
    fileprivate init(_ row: PostgresRow, _ type: EventType?) throws {
        let tasks = try row.list("task_ids")?.map { $0.uppercased() } ?? []
        switch type {
        case .taskRegistered, .taskRetitled, .taskCancelled, .taskMoved:
            self = .task(try EventData.TaskFacts(row, tasks: tasks))
        case .matchCreated, .matchEnded: self = .match(try EventData.MatchFacts(row, tasks: tasks))
        case .roomOpened:
            self = .opened(
                try EventData.MatchFacts(row, tasks: tasks), closesAt: try row.optionalInstant("closes_at"))
        case .roomClosed:
            self = .closed(
                try EventData.MatchFacts(row, tasks: tasks), came: try row.list("came")?.map { $0.uppercased() } ?? [],
                mostPeers: try row.optionalInteger("peers") ?? 0)
        case .roomJoined, .roomLeft:
            self = .passage(
                room: try row.optionalUUID("room_id")?.text, task: tasks.first,
                peers: try row.optionalInteger("peers"))
        case .deviceErased: self = .erased
        case nil: self = .unknown(try EventData.TaskFacts(row, tasks: tasks))
        }
    }

    fileprivate func write(to object: inout JSONText) {
        switch self {
        case .reminder, .erased: break
        case .task(let task), .unknown(let task): task.write(to: &object)
        case .match(let match): match.write(to: &object)
        case .opened(let match, let closesAt):
            match.write(to: &object)
            object.member("closesAt", closesAt?.description)
        case .closed(let match, let came, let mostPeers):
            match.write(to: &object)
            object.name("came")
            object.array { array in for task in came { array.string(task) } }
            object.member("mostPeers", mostPeers)
        case .passage(let room, let task, let peers):
            object.member("roomId", room)
            object.member("taskId", task)
            if let peers { object.member("peers", peers) }
        }
    }
}

extension PostgresRow {
    fileprivate func list(_ column: String) throws -> [String]? {
        guard let text = try optionalString(column) else { return nil }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }

    fileprivate func optionalInstant(_ column: String) throws -> Instant? {
        try optionalInteger(column).map { Instant(seconds: $0) }
    }
}
