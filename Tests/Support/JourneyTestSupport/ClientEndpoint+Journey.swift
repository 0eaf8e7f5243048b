package import Domain
package import Foundation
package import TestSupport

/// Actions of users at a daemon, each on its own connection.
extension ClientEndpoint {
    package func get(_ target: String) async throws -> TestResponse {
        try await HTTPTestClient.request(at: self, "GET", target)
    }

    package func post(_ target: String, _ json: TestJSON) async throws -> TestResponse {
        try await HTTPTestClient.request(at: self, "POST", target, json: json)
    }

    package static func task(_ device: String, _ start: Instant, _ title: String, _ zone: String = "UTC") -> TestJSON {
        ["deviceId": .string(device), "startsAt": "\(start)", "title": .string(title), "timeZone": .string(zone)]
    }

    /// Registers a task, which must succeed.
    @discardableResult
    package func register(
        _ device: String, _ start: Instant, _ title: String = "History", zone: String = "UTC"
    ) async throws -> RegisteredTask {
        let response = try await post("/task", Self.task(device, start, title, zone))
        guard response.status == 201 || response.status == 200 else {
            throw ClientFailure.violation("registration answered \(response.status) \(response.text)")
        }
        return try response.decode(RegisteredTask.self)
    }

    /// Registers two tasks that are matched. Returns their room.
    package func pair(_ one: String, _ other: String, _ start: Instant) async throws -> UUID {
        try await register(one, start)
        let second = try await register(other, start, "Maths")
        guard second.isPaired else { throw ClientFailure.violation("\(one) and \(other) aren't paired") }
        return second.socketId
    }

    /// Opens the device's stream and waits for its first comment. The stream receives all later events.
    package func reminders(of device: String, after last: UUID? = nil) async throws -> EventStreamTestClient {
        let stream = try await EventStreamTestClient.connect(
            to: self, "/reminders?deviceId=\(device)", lastEventID: last?.uuidString)
        _ = try await stream.nextComment()
        return stream
    }

    package static func room(_ id: UUID) -> String { "/socket?id=\(id.uuidString)" }

    /// Enters a room, and waits for its greeting.
    package func enter(_ room: UUID) async throws -> WebSocketTestClient {
        let peer = try await WebSocketTestClient.connect(to: self, Self.room(room))
        guard try await peer.nextMessage() == RoomMessages.handshake else {
            throw ClientFailure.violation("no handshake message")
        }
        return peer
    }

    /// Returns the status of an upgrade for a room: 101 if the client may enter.
    package func status(of room: UUID) async throws -> Int {
        do {
            let peer = try await WebSocketTestClient.connect(to: self, Self.room(room))
            await peer.close()
            return 101
        } catch let refused as UpgradeRefused {
            return refused.response.status
        }
    }
}

extension TestResponse {
    /// The error's code.
    package var code: String? { try? json()["code"].string }
}

extension EventStreamTestClient {
    /// Returns the next reminder. Skips other events.
    package func nextReminder(within allowed: Duration = Deadline.standard) async throws -> ReceivedReminder {
        while true {
            let event = try await nextEvent(within: allowed)
            guard event.event == "reminder" else { continue }
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            let reminder = try decoder.decode(ReceivedReminder.self, from: Data(event.data.utf8))
            guard event.id == reminder.id.uuidString else {
                throw ClientFailure.violation("the event's id \(event.id ?? "") isn't the reminder's")
            }
            return reminder
        }
    }

    /// Returns the slot of the next `schedule` event. Skips reminders.
    package func nextChange(within allowed: Duration = Deadline.standard) async throws -> String? {
        while true {
            let event = try await nextEvent(within: allowed)
            if event.event == "schedule" { return try event.json()["startsAt"].string }
        }
    }
}

/// The messages of a room.
package enum RoomMessages {
    package static let handshake = TestMessage.binary(Array(#"{"type":"handshake"}"#.utf8))
    package static let cheer = TestMessage.binary(Array(#"{"type":"aleResponse"}"#.utf8))

    package static func ale(_ room: UUID) -> String { #"{"type":"ale","id":"\#(room.uuidString)"}"# }
}
