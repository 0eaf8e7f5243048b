import Access
import FoundationEssentials
import Wire

extension CableHistory {
    /// The conversations that the client's history names.
    var conversations: [UUID] { positions.compactMap { Topic.conversation(named: $0.stream) } }

    /// Returns the offset from which to repeat each conversation. Returns `nil` if messages are no longer stored, if
    /// the member isn't allowed to read a conversation, or if a conversation has begun again.
    ///
    /// - Parameter after: The offsets from which the subscription starts. If the client's history has a later offset of
    ///   a conversation, that offset is used.
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
