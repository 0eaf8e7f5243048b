import Domain
import FoundationEssentials
import Postgres

/// One event or notification for one address.
struct Delivery: Sendable, Hashable {
    /// The row's id.
    let id: Int
    let provider: ProviderName
    /// The same on every attempt, so that a receiver recognises repeats. A reminder's own id.
    let messageId: UUID
    /// The time of the event. All times here are epoch seconds by the database's clock.
    let happenedAt: Double
    /// The time after which nothing is sent: a reminder's start.
    let deadline: Double
    /// The database's clock when it was leased, or as ``aged(by:)`` has changed it.
    var asOf: Double
    /// 1 for the first.
    let attempt: Int

    /// The provider's name of the target; empty for the webhook, whose URL is a setting.
    let address: String
    /// The provider's further data: a JSON object.
    let details: String
    /// When the address was last registered.
    let registeredAt: Double

    /// The content.
    let content: Content

    enum Content: Sendable, Hashable {
        /// With its JSON on one line, as all JSON providers send it.
        case reminder(ReminderContent, json: String)
        /// For the webhook: an ``EventType``, or one of another build, with its data as a JSON object on one line.
        case event(type: String, json: String)
        case partnerChanged(PartnerNotice)
        /// Messages of a conversation for an absent user.
        case messages(UnreadMessages)
    }

    /// The content's type for receivers.
    var event: String {
        switch content {
        case .reminder: Self.reminder
        case .event(let type, _): type
        case .partnerChanged: Self.partnerChanged
        case .messages: Self.messages
        }
    }

    /// The content as JSON on one line, without users' messages.
    var payload: String {
        switch content {
        case .reminder(_, let json): json
        case .event(_, let json): json
        case .partnerChanged(let notice): notice.json
        case .messages(let unread): unread.json
        }
    }

    /// A reminder is sent before everything else, because it is useful for only a minute.
    var isUrgent: Bool {
        if case .reminder = content { true } else { false }
    }

    /// Seconds until the deadline.
    var timeLeft: Double { deadline - asOf }

    /// Returns the delivery at a later time.
    func aged(by age: Duration) -> Delivery {
        var delivery = self
        delivery.asOf += age / .seconds(1)
        return delivery
    }
}

extension Delivery {
    static let reminder = "reminder"
    static let messages = "messages"
    static let partnerChanged = "partnerChanged"
}

extension Delivery {
    /// Reads a row of `notifications.lease_deliveries` that must be sent.
    init(_ row: PostgresRow, _ provider: ProviderName) throws {
        id = try row.integer("id")
        self.provider = provider
        messageId = try row.uuid("message_id")
        happenedAt = try row.epoch("happened_at_us")
        deadline = try row.epoch("deadline_us")
        asOf = try row.epoch("now_us")
        attempt = try row.integer("attempt")
        address = try row.optionalString("address") ?? ""
        details = try row.optionalString("details") ?? ""
        registeredAt = try row.optionalEpoch("registered_at_us") ?? 0
        let type = try row.string("type")
        if try !row.isNull("conversation_id") {
            content = .messages(try UnreadMessages(row))
        } else if try row.boolean("is_reminder") {
            let reminder = try ReminderContent(row, id: messageId)
            // A reminder to an address isn't an event.
            let event = try EventData(row, nil)
            content = .reminder(reminder, json: event?.json(reminder: reminder.json) ?? reminder.json)
        } else if type == Self.partnerChanged {
            content = .partnerChanged(try PartnerNotice(row, ReminderContent(row, id: messageId)))
        } else {
            content = .event(type: type, json: try EventData(row, type)?.json() ?? "{}")
        }
    }
}
