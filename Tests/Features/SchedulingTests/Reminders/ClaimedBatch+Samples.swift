import ScheduleTestSupport

@testable import Scheduling

extension ClaimedBatch {
    static func sample(_ batch: Int) -> ClaimedBatch {
        ClaimedBatch(batch: batch, reminders: [.sample(batch: batch)], rooms: [])
    }
}
