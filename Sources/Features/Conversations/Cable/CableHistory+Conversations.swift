import Access
import FoundationEssentials
import Wire

extension CableHistory {
    /// The conversations that it names.
    var conversations: [UUID] { positions.compactMap { Topic.conversation(named: $0.stream) } }

    /// Returns the offset from which to repeat each conversation. `nil` if the messages no longer exist, the member may
    /// not read the conversation, or the conversation has begun again.
    ///
    /// - Parameter after: The offset from which the subscription starts in any case, unless the client has received
    ///   more.
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
