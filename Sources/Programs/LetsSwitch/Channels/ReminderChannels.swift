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

/// The channel `{"channel":"RemindersChannel"}`: the device's reminders, like `GET /reminders`.
struct RemindersChannel: CableChannel {
    let name: StaticString = "RemindersChannel"
    let source: ReminderSource

    func subscribe(
        _ parameters: CableParameters, _ transport: SubscriptionTransport
    ) throws(CableRejection) -> any CableSubscription {
        try ReminderSubscription(parameters, transport, source, conversations: nil)
    }
}

/// The channel `{"channel":"NotificationsChannel"}`: a device's reminders, the changes of its day, and hints about its
/// conversations.
struct NotificationsChannel: CableChannel {
    let name: StaticString = "NotificationsChannel"
    let source: ReminderSource
    let conversations: Conversations

    func subscribe(
        _ parameters: CableParameters, _ transport: SubscriptionTransport
    ) throws(CableRejection) -> any CableSubscription {
        try ReminderSubscription(parameters, transport, source, conversations: conversations)
    }
}
