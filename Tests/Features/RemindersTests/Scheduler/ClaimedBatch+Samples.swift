import ScheduleTestSupport

@testable import Reminders

extension ClaimedBatch {
    static func sample(_ batch: Int) -> ClaimedBatch {
        ClaimedBatch(batch: batch, reminders: [.sample(batch: batch)], rooms: [])
    }
}
