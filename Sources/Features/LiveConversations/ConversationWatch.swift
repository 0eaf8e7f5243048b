import Messaging
package import Rooms

/// A subscriber that receives hints about a device's conversations and may miss some. On its loop.
package final class ConversationWatch: RoomListener {
    let member: ConversationMember
    let number: ConversationWatches.Number
    private let tell: (Publication) -> Void

    init(
        _ member: ConversationMember, _ number: ConversationWatches.Number, _ tell: @escaping (Publication) -> Void
    ) {
        self.member = member
        self.number = number
        self.tell = tell
    }

    package func deliver(_ publication: Publication) {
        guard let (page, _) = publication.chat, member.allows(page.conversation) else { return }
        tell(publication)
    }
}
