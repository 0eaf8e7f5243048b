import Domain
import FoundationEssentials

@testable package import Reminders

extension Reminder {
    /// Returns a reminder that fired in time, at this position in a batch.
    package static func sample(_ device: String = "ada", batch: Int, place: Int = 0) -> Reminder {
        let (id, task) = (UUID(), UUID())
        return Reminder(
            id: id, seq: batch << 12 | place, taskId: task, device: DeviceID(stored: device),
            content: ReminderContent(
                id: id, taskId: task, title: "History", startsAt: Instant(seconds: 1060), startTime: "00:17",
                timeZone: "UTC", roomId: nil, partnerTask: nil),
            due: 1000, firedAt: 1000, startsAt: Instant(seconds: 1060), roomId: nil, state: .pending)
    }
}
