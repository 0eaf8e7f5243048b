import Domain
import FoundationEssentials

@testable import Scheduling

extension Reminder {
    /// One that fired in time, at that place of a batch.
    static func sample(_ device: String = "ada", batch: Int, place: Int = 0) -> Reminder {
        Reminder(
            id: UUID(), seq: batch << 12 | place, taskId: UUID(), device: DeviceID(stored: device), payload: "{}",
            due: 1000, firedAt: 1000, startsAt: Instant(seconds: 1060), roomId: nil, state: .pending)
    }
}
