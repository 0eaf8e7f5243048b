package import Access
package import ActionCable
import Domain
package import Features
import Rooms
import Wire

/// Hints for a subscription about a device's conversations. Hints are neither queued nor repeated.
struct ChatNotices: DeviceHintSubscription {
    private let shard: ConversationShard
    private let watch: ConversationWatch

    /// Sends hints until ``end()``. Returns `nil` if the identity names no device.
    init?(for identity: Identity, of conversations: Conversations, to transport: SubscriptionTransport) {
        guard let member = try? ConversationMember(identity) else { return nil }
        shard = conversations.shard(on: transport.reactor, loop: transport.loop)
        watch = shard.watches.add(member) { [unowned transport] publication in
            guard let chat = publication.chat else { return }
            // The hint is encoded once for all subscriptions with this identifier.
            transport.send(
                publication.form {
                    SharedContents([
                        CableContent(chat.begins ? "new_chat" : "update_chat") { chat.page.writeSummary(to: &$0) }
                    ])
                })
        }
    }

    func end() { shard.watches.remove(watch) }
}

extension Conversations: DeviceHints {
    package func begin(for identity: Identity, to transport: SubscriptionTransport) -> (any DeviceHintSubscription)? {
        ChatNotices(for: identity, of: self, to: transport)
    }
}
