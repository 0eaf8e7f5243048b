import Access
import ActionCable
import Domain
import FoundationEssentials
import Wire

/// A conversation from `after` on: the channel `{"channel":"ConversationChannel","id":"<uuid>"}`. Without `id`, all
/// conversations of a device. With `"presence":true` it sends the present users.
struct ConversationChannel: CableChannel {
    let name: StaticString = "ConversationChannel"
    let keepsHistory = true
    let conversations: Conversations

    func subscribe(
        _ parameters: CableParameters, _ transport: SubscriptionTransport
    ) throws(CableRejection) -> any CableSubscription {
        do {
            let id = parameters.text("id") ?? parameters.text("chatId")
            let conversation = id.flatMap(UUID.init(text:))
            let member = try ConversationMember(parameters.identity(of: transport), only: conversation)
            guard id == nil || conversation != nil else { throw CableRejection() }
            if let conversation { try member.check(conversation) }
            let after = parameters.text("after")
            let offsets = conversation.flatMap { conversation in after.map { "\(conversation):\($0)" } } ?? after
            let subscription = ConversationSubscription(
                member, conversation, after: try ConversationOffsets(offsets).offsets,
                wantsPresence: parameters.isTrue("presence"), conversations, by: transport)
            subscription.open()
            return subscription
        } catch {
            throw CableRejection()
        }
    }
}
