package import Domain
package import FoundationEssentials
import Rooms
package import Wire

/// A task's move to another room, because its partner didn't come or its user wasn't there in time. Sent to the old
/// room and to the device's streams.
package struct Rematch: Message, Hashable {
    /// The old room, which is closed. `nil` if the task had none.
    package let from: UUID?
    package let device: DeviceID
    package let startsAt: Instant
    package let taskId: UUID
    package let roomId: UUID
    /// The partner's title. `nil` while waiting for a partner.
    package let partnerTask: String?

    /// `{"type":"rematched","roomId":…,"taskId":…,"partnerTask":…}`
    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("type", "rematched")
            write(to: &object)
        }
        return json.bytes
    }

    /// The schema of the fields except the type.
    package static let schema: [JSONSchema.Member] = [
        .member("roomId", .uuid), .member("taskId", .uuid), .optional("partnerTask", .text()),
    ]

    /// Writes the fields except the type.
    package func write(to object: inout JSONText) {
        object.member("roomId", roomId.text)
        object.member("taskId", taskId.text)
        object.member("partnerTask", partnerTask)
    }
}

extension Rematch {
    private struct Content: Decodable {
        let from: UUID?
        let device: String?
        let startsAt: Int
        let taskId: UUID
        let roomId: UUID
        let partnerTask: String?
    }

    /// Reads a notification of `schedule.notify_rematched`. Returns `nil` for an erased user and for other text,
    /// because anyone with access to the database can notify.
    package init?(notification: String) {
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(notification.utf8)),
            let device = content.device, let startsAt = Instant(checked: content.startsAt)
        else { return nil }
        from = content.from
        self.device = DeviceID(stored: device)
        self.startsAt = startsAt
        taskId = content.taskId
        roomId = content.roomId
        partnerTask = content.partnerTask
    }
}
