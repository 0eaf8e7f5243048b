package import Messaging
package import Rooms
package import Sockets

/// Somebody who is told that something happens in a device's conversations, and can do without one or the other. On its loop.
package final class ConversationWatch: RoomPeer {
    let member: ConversationMember
    let number: ConversationShard.Number
    private let tell: (Publication) -> Void
    /// ``ConversationShard``'s to set; `nil` while the device has no name.
    var place: ConversationShard.Place?

    init(
        _ member: ConversationMember, _ number: ConversationShard.Number, _ tell: @escaping (Publication) -> Void
    ) {
        self.member = member
        self.number = number
        self.tell = tell
    }

    package func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {}
    package func roomClosed() {}

    package func deliver(_ publication: Publication) {
        guard let conversation = publication.conversation, member.allows(conversation.conversation) else { return }
        tell(publication)
    }
}

extension Publication {
    /// The conversation that it is about, with its last message.
    fileprivate var conversation: ConversationPage? {
        (message as? ConversationPublication)?.page ?? (message as? ConversationChange)?.summary
    }

    /// The conversation that it is about, as who watches is told it, and whether it begins: it was made, or it is the first message.
    package var chat: (page: ConversationPage, begins: Bool)? {
        if let change = message as? ConversationChange { return (change.summary, change.notice.change == .made) }
        guard let page = (message as? ConversationPublication)?.page else { return nil }
        return (page, page.messages.first?.offset == 1)
    }
}
