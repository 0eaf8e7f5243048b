package import Domain
package import FoundationEssentials

/// One event on its way to one address: what a channel is asked to send.
package struct Delivery: Sendable, Hashable {
    /// The row's.
    package let id: Int
    package let channel: ChannelName
    /// `reminder`; or for the webhook `task.registered`, `task.retitled`, `task.cancelled`, `match.created`, `room.opened`,
    /// `room.joined`, `room.left`, `room.closed`, `device.erased`.
    package let event: String
    /// Tells a repeat: the same on every try. A reminder's own id.
    package let messageId: UUID
    /// When it happened. Epoch seconds by the database's clock, like all of them here.
    package let happenedAt: Double
    /// Nothing is to be sent from then on: a reminder's start.
    package let deadline: Double
    /// The database's clock when it was taken, or as ``aged(by:)`` has it.
    package internal(set) var asOf: Double
    /// 1 for the first.
    package let attempt: Int

    /// The channel's name for where it goes; empty for the webhook, whose URL is a setting.
    package let address: String
    /// What the channel keeps beside the address: a JSON object.
    package let details: String
    /// When the address was last registered.
    package let registeredAt: Double

    /// The event as JSON on one line; a reminder's as every channel sends it.
    package let payload: String
    /// Of a reminder; `nil` for other events, like ``taskId`` and ``partnerTask``.
    package let reminderId: UUID?
    package let taskId: UUID?
    /// What follows is of a reminder, or as far as the event has it.
    package let title: String?
    /// The partner's title; `nil` without a partner, or when the partner was erased.
    package let partnerTask: String?
    /// On the wall clock of ``timeZone``: `09:00`.
    package let startTime: String?
    package let timeZone: String?
    package let startsAt: Instant?
    /// `nil` without a partner.
    package let roomId: UUID?

    /// A reminder goes before everything else: it is worth something for a minute.
    package var isUrgent: Bool { event == Self.reminder }

    /// Seconds until the deadline.
    package var timeLeft: Double { deadline - asOf }

    /// The same, so much later.
    func aged(by age: Duration) -> Delivery {
        var delivery = self
        delivery.asOf += age / .seconds(1)
        return delivery
    }
}

extension Delivery {
    package static let reminder = "reminder"
}
