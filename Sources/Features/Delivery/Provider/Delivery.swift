import Domain
import FoundationEssentials
import Postgres

/// One event, or one notification, on its way to one address: what a provider is asked to send.
struct Delivery: Sendable, Hashable {
    /// The row's.
    let id: Int
    let provider: ProviderName
    /// Tells a repeat: the same on every try. A reminder's own id.
    let messageId: UUID
    /// When it happened. Epoch seconds by the database's clock, like all of them here.
    let happenedAt: Double
    /// Nothing is to be sent from then on: a reminder's start.
    let deadline: Double
    /// The database's clock when it was taken, or as ``aged(by:)`` has it.
    var asOf: Double
    /// 1 for the first.
    let attempt: Int

    /// The provider's name for where it goes; empty for the webhook, whose URL is a setting.
    let address: String
    /// What the provider keeps beside the address: a JSON object.
    let details: String
    /// When the address was last registered.
    let registeredAt: Double

    /// What is told.
    let content: Content

    enum Content: Sendable, Hashable {
        /// With its JSON on one line, as every provider sends it that sends JSON.
        case reminder(ReminderContent, json: String)
        /// For the webhook: an ``EventType``, or one that another build knows; and what there is to say of it, a JSON object on one line.
        case event(type: String, json: String)
        case partnerChanged(PartnerNotice)
        /// What was said in a conversation while somebody wasn't there.
        case messages(UntoldMessages)
    }

    /// The content's type, as receivers know it.
    var event: String {
        switch content {
        case .reminder: Self.reminder
        case .event(let type, _): type
        case .partnerChanged: Self.partnerChanged
        case .messages: Self.messages
        }
    }

    /// The content as JSON on one line, without what people have said.
    var payload: String {
        switch content {
        case .reminder(_, let json): json
        case .event(_, let json): json
        case .partnerChanged(let notice): notice.json
        case .messages(let untold): untold.json
        }
    }

    /// A reminder goes before everything else: it is worth something for a minute.
    var isUrgent: Bool {
        if case .reminder = content { true } else { false }
    }

    /// Seconds until the deadline.
    var timeLeft: Double { deadline - asOf }

    /// The same, so much later.
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
    /// From a row of `letsswitch.lease_deliveries` whose verdict is to send it.
    init(_ row: PostgresRow, _ provider: ProviderName) throws {
        id = try row.integer("id")
        self.provider = provider
        messageId = try row.uuid("message_id")
        happenedAt = try row.double("happened_at")
        deadline = try row.double("deadline")
        asOf = try row.double("now")
        attempt = try row.integer("attempt")
        address = try row.optionalString("address") ?? ""
        details = try row.optionalString("details") ?? ""
        registeredAt = try row.optionalDouble("registered_at") ?? 0
        let type = try row.string("type")
        if try !row.isNull("conversation_id") {
            content = .messages(try UntoldMessages(row))
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
