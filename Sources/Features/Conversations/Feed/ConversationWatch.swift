import Domain
package import Rooms

/// A subscriber that receives hints about a device's conversations. The subscriber may miss some hints. Must be used on
/// its loop.
package final class ConversationWatch: RoomListener {
    let member: ConversationMember
    let number: ConversationWatches.Number
    private let notify: (Publication) -> Void

    init(
        _ member: ConversationMember, _ number: ConversationWatches.Number, _ notify: @escaping (Publication) -> Void
    ) {
        self.member = member
        self.number = number
        self.notify = notify
    }

    package func deliver(_ publication: Publication) {
        guard let (page, _) = publication.chat, member.allows(page.conversation) else { return }
        notify(publication)
    }
}
