import Domain
import Postgres
import Wire

/// That somebody's partner has changed: one has left, moved, or waited in vain, or somebody else is there.
struct PartnerNotice: Sendable, Hashable {
    /// The task as it is now, with another partner, or none.
    let task: ReminderContent
    /// When it starts, if that isn't today: `Wed 25 Nov`.
    let day: String?

    /// To be read by a person.
    ///
    /// - Parameter partner: What the other will start; nil without one, or when it isn't known.
    func sentence(partner: String?) -> String {
        let start = day.map { "\(task.startTime) on \($0)" } ?? task.startTime
        guard task.roomId != nil else { return "You have no partner at \(start) any more." }
        let other = "Another partner starts with you at \(start)"
        return partner.map { "\(other): \(BidirectionalText.quoted($0))" } ?? "\(other)."
    }

    /// As Web Push sends it: an object on one line.
    var json: String { task.json(type: Delivery.partnerChanged) }
}

extension PartnerNotice {
    init(_ row: PostgresRow, _ task: ReminderContent) throws {
        self.task = task
        day = try row.optionalString("day")
    }
}
