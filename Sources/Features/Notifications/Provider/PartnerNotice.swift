import Domain
import Postgres
import Wire

/// A notice that a user's partner has changed: the partner has left, moved or didn't come, or there is a new partner.
struct PartnerNotice: Sendable, Hashable {
    /// The task as it is now, with a new partner or none.
    let task: ReminderContent
    /// The date of the start if it isn't today: `Wed 25 Nov`.
    let day: String?

    /// Returns the notice as a sentence for users.
    ///
    /// - Parameter partner: The title of the partner's task. `nil` without a partner, or if the title is unknown.
    func sentence(partner: String?) -> String {
        let start = day.map { "\(task.startTime) on \($0)" } ?? task.startTime
        guard task.roomId != nil else { return "You have no partner at \(start) any more." }
        let other = "Another partner starts with you at \(start)"
        return partner.map { "\(other): \(BidirectionalText.quoted($0))" } ?? "\(other)."
    }

    /// The JSON for Web Push: an object on one line.
    var json: String { task.json(type: Delivery.partnerChanged) }
}

extension PartnerNotice {
    init(_ row: PostgresRow, _ task: ReminderContent) throws {
        self.task = task
        day = try row.optionalString("day")
    }
}
