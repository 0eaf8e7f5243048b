package import ActionCable
package import Features
package import Wire

/// The channel `{"channel":"RemindersChannel"}`: the device's reminders, like `GET /reminders`.
struct RemindersChannel: CableChannel {
    let name: StaticString = "RemindersChannel"
    let source: ReminderSource

    func subscribe(
        _ parameters: CableParameters, _ transport: SubscriptionTransport
    ) throws(CableRejection) -> any CableSubscription {
        try ReminderSubscription(parameters, transport, source, sendsChanges: false, hints: nil)
    }
}

/// The channel `{"channel":"NotificationsChannel"}`: a device's reminders, the changes of its day, and hints of other
/// features.
package struct NotificationsChannel: CableChannel {
    package let name: StaticString = "NotificationsChannel"
    private let source: ReminderSource
    private let hints: (any DeviceHints)?

    package init(source: ReminderSource, hints: (any DeviceHints)?) {
        self.source = source
        self.hints = hints
    }

    package func subscribe(
        _ parameters: CableParameters, _ transport: SubscriptionTransport
    ) throws(CableRejection) -> any CableSubscription {
        try ReminderSubscription(parameters, transport, source, sendsChanges: true, hints: hints)
    }
}
