import Domain
import FoundationEssentials
import Postgres

/// One event or notification for one address.
struct Delivery: Sendable, Hashable {
    /// The id of the row.
    let id: Int
    let provider: ProviderName
    /// The id that receivers recognise repeats by. It is the same on every attempt. For a reminder, it is the
    /// reminder's id.
    let messageId: UUID
    /// The time of the event. All times of this type are epoch seconds of the database's clock.
    let happenedAt: Double
    /// The time after which the delivery isn't sent, such as a reminder's start.
    let deadline: Double
    /// The time to which ``timeLeft`` refers: the time of the lease, or a later one after ``aged(by:)``.
    var asOf: Double
    /// The number of the attempt. The first is 1.
    let attempt: Int

    /// The target's address at the provider. Empty for the webhook, whose URL is a setting.
    let address: String
    /// Further data for the provider: a JSON object.
    let details: String
    /// The time at which the address was last registered.
    let registeredAt: Double

    /// The content.
    let content: Content

    enum Content: Sendable, Hashable {
        /// A reminder, with its JSON on one line. All providers that send JSON use this.
        case reminder(ReminderContent, json: String)
        /// An event for the webhook, with its data as a JSON object on one line. The type is an ``EventType``, or a
        /// type of another build.
        case event(type: String, json: String)
        case partnerChanged(PartnerNotice)
        /// Messages of a conversation for an absent user.
        case messages(UnreadMessages)
    }

    /// The type of the content that receivers see.
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

    /// Whether the delivery is sent before all others. Reminders are, because they are useful for only a minute.
    var isUrgent: Bool {
        if case .reminder = content { true } else { false }
    }

    /// The time until the deadline, in seconds.
    var timeLeft: Double { deadline - asOf }

    /// Returns the delivery with ``asOf`` moved `age` later.
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
    /// Reads a row of `notifications.lease_deliveries`. The row must be one to send.
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
            // A reminder to an address isn't an event, so it has no event data.
            let event = try EventData(row, nil)
            content = .reminder(reminder, json: event?.json(reminder: reminder.json) ?? reminder.json)
        } else if type == Self.partnerChanged {
            content = .partnerChanged(try PartnerNotice(row, ReminderContent(row, id: messageId)))
        } else {
            content = .event(type: type, json: try EventData(row, type)?.json() ?? "{}")
        }
    }
}
