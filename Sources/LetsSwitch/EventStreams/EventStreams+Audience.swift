import Domain
import Scheduling

extension EventStreams: ReminderAudience {
    func slotsClosed(_ slots: Set<Instant>) {
        slotsChanged(Dictionary(slots.map { ($0, []) }) { first, _ in first })
    }
}
