package import FoundationEssentials

/// One event on its way to one address: what a channel is asked to send.
package struct Delivery: Sendable, Hashable {
    /// The row's.
    package let id: Int
    package let channel: ChannelName
    /// `reminder`; or for the webhook `task.registered`, `task.cancelled`, `match.created`, `room.opened`, `room.closed`,
    /// `room.joined`, `room.left`.
    package let event: String
    /// Tells a repeat: the same on every try. A reminder's own id.
    package let messageId: UUID
    /// When it happened. Epoch seconds by the database's clock, like all of them here.
    package let createdAt: Double
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
    /// Of a reminder; `nil` for other events, like everything below.
    package let reminderId: UUID?
    package let taskId: UUID?
    package let title: String?
    /// The partner's title; `nil` without a partner, or when the partner was erased.
    package let partnerTask: String?
    /// On the wall clock of ``timeZone``: `09:00`.
    package let startTime: String?
    package let timeZone: String?
    package let startsAt: Instant?
    /// `nil` without a partner.
    package let roomId: UUID?

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
