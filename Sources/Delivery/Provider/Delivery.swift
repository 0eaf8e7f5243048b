import Domain
import FoundationEssentials

/// One event on its way to one address: what a provider is asked to send.
struct Delivery: Sendable, Hashable {
    /// The row's.
    let id: Int
    let provider: ProviderName
    /// `reminder`; or for the webhook `task.registered`, `task.retitled`, `task.cancelled`, `match.created`, `room.opened`,
    /// `room.joined`, `room.left`, `room.closed`, `device.erased`.
    let event: String
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

    /// The event as JSON on one line; a reminder's as every provider sends it.
    let payload: String
    /// Of a reminder; `nil` for other events, like ``taskId`` and ``partnerTask``.
    let reminderId: UUID?
    let taskId: UUID?
    /// What follows is of a reminder, or as far as the event has it.
    let title: String?
    /// The partner's title; `nil` without a partner, or when the partner was erased.
    let partnerTask: String?
    /// On the wall clock of ``timeZone``: `09:00`.
    let startTime: String?
    let timeZone: String?
    let startsAt: Instant?
    /// `nil` without a partner.
    let roomId: UUID?

    /// A reminder goes before everything else: it is worth something for a minute.
    var isUrgent: Bool { event == Self.reminder }

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
}
