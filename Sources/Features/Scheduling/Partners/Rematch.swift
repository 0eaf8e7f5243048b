package import Domain
package import FoundationEssentials
import Rooms
package import Wire

/// Somebody goes on in another room: the partner didn't come, or oneself wasn't there in time. Told in the room where one was, and by the
/// device's streams.
package struct Rematch: Message, Hashable {
    /// The room that was left, which is over; nil when one was in none.
    package let from: UUID?
    package let device: DeviceID
    package let startsAt: Instant
    package let taskId: UUID
    package let roomId: UUID
    /// Nil: one waits there.
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

    /// The members but for the type.
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

    /// From `letsswitch.tell_rematched`. Whoever may use the database can notify: nil for what is no such notification, and for a person
    /// who was erased.
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
