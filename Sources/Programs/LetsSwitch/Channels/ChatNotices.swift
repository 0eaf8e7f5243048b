import Access
import ActionCable
import LiveConversations
import Messaging
import Rooms
import Wire

/// What a subscription is told of a device's conversations: hints, of which none waits and none is told again.
struct ChatNotices {
    private let shard: ConversationShard
    private let watch: ConversationWatch

    /// Until ``end()``. `nil`: who subscribes may hear of no conversation.
    init?(for identity: Identity, of conversations: Conversations, to outlet: SubscriptionOutlet) {
        guard let member = try? ConversationMember(identity) else { return nil }
        shard = conversations.shard(on: outlet.reactor, loop: outlet.loop)
        watch = shard.watches.add(member) { [unowned outlet] publication in
            guard let chat = publication.chat else { return }
            // Made once for all who have this identifier.
            outlet.send(
                publication.form {
                    SharedContents([
                        CableContent(chat.begins ? "new_chat" : "update_chat") { chat.page.writeSummary(to: &$0) }
                    ])
                })
        }
    }

    func end() { shard.watches.remove(watch) }
}
