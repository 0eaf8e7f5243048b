import Access
import FoundationEssentials
import LiveConversations
import Messaging
import Wire

extension CableHistory {
    /// Those that it names.
    var conversations: [UUID] { positions.compactMap { Topic.conversation(named: $0.stream) } }

    /// Behind which offset what was missed of each conversation begins. `nil`: of one it isn't to be had any more, or isn't this member's, or
    /// that one has begun anew.
    ///
    /// - Parameter after: Where the subscription begins in any case, unless the client knows more of it by now.
    func starts(
        in kept: [UUID: KeptHistory], after: [UUID: Int] = [:], for member: ConversationMember
    ) -> [UUID: Int]? {
        var starts: [UUID: Int] = [:]
        if since != nil {
            for (conversation, history) in kept where member.allows(conversation) {
                if let offset = history.sinceOffset { starts[conversation] = offset }
            }
        }
        starts.merge(after) { $1 }
        for position in positions {
            guard let conversation = Topic.conversation(named: position.stream), member.allows(conversation),
                let history = kept[conversation], history.continues(position.epoch, after: position.offset)
            else { return nil }
            starts[conversation] = position.offset
        }
        return starts
    }
}
