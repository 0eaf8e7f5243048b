import Access
import ActionCable
import Domain
import FoundationEssentials
import LiveConversations
import LiveSchedule
import Messaging
import Rooms
import Scheduling
import Server
import Sockets
import Wire

/// `{"channel":"RemindersChannel"}`: the device's reminders, as `GET /reminders` streams them.
struct RemindersChannel: CableChannel {
    let name: StaticString = "RemindersChannel"
    let source: ReminderSource

    func subscribe(
        _ parameters: CableParameters, _ outlet: SubscriptionOutlet
    ) throws(CableRejection) -> any CableSubscription {
        try ReminderSubscription(parameters, outlet, source, telling: nil)
    }
}

/// `{"channel":"NotificationsChannel"}`: all that a device is told: its reminders, that its day has changed, and what happens in its
/// conversations.
struct NotificationsChannel: CableChannel {
    let name: StaticString = "NotificationsChannel"
    let source: ReminderSource
    let conversations: Conversations

    func subscribe(
        _ parameters: CableParameters, _ outlet: SubscriptionOutlet
    ) throws(CableRejection) -> any CableSubscription {
        try ReminderSubscription(parameters, outlet, source, telling: conversations)
    }
}
