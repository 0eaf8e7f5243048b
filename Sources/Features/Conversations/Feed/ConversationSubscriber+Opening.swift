import Domain
import FoundationEssentials

/// Reads the positions of a subscriber's conversations, and its presence in them.
extension ConversationSubscriber {
    /// The result of reading the positions.
    enum Opening {
        case opened
        /// The device has another name now, so the subscriber must move to that user's room.
        case otherUser
    }

    /// Handles the positions of the conversations.
    func opened(_ positions: ConversationPositions) -> Opening {
        // Names are ASCII, so comparing strings compares bytes.
        guard positions.user == user else {
            user = positions.user
            if case .opening = state { return .otherUser }
            // The device was erased and has a new name.
            end(.erased)
            return .opened
        }
        let allowed = positions.offsets.filter { member.allows($0.conversation) }
        switch state {
        case .opening:
            state = .receiving(
                ConversationProgress(allowed, after: after, othersAreNew: othersAreNew), isReading: false)
            after = [:]
            transport.send(
                .handshake(
                    id: UUID(), ConversationPositions(user: positions.user, userID: positions.userID, offsets: allowed))
            )
            beginPresence(positions, allowed)
            if mayHaveMissed { shard.readPositions(for: self) }
        case .receiving(var progress, let isReading):
            progress.found(allowed)
            // The notification that the user left may have been missed, too.
            for position in allowed where position.hasLeft {
                presence?.leave(position.conversation, at: position.lastOffset)
            }
            state = .receiving(progress, isReading: isReading)
        }
        proceed()
        return .opened
    }

    // MARK: Presence

    private func beginPresence(_ positions: ConversationPositions, _ allowed: [ConversationPositions.Position]) {
        let presence = ConversationPresence(
            of: positions.userID, shard.conversations, on: shard.reactor,
            changed: transport.wantsPresence ? { [weak self] in self?.sendPresence(in: $0) } : nil)
        self.presence = presence
        for position in allowed.prefix(ConversationEvent.offsetsInHandshake) where !position.hasLeft {
            presence.enter(position.conversation)
        }
    }

    /// Reports the present users of a conversation after a change.
    func sendPresence(in conversation: UUID) {
        guard let users = presence?.changedUsers(of: conversation, orAlone: transport.wantsPresenceAlone) else {
            return
        }
        guard let names = shard.names(of: users, for: self, in: conversation) else { return }
        presence?.markReported(in: conversation)
        transport.send(.presence(conversation: conversation, users: names))
    }

    func endPresence() {
        presence?.leaveAll()
        presence = nil
    }
}
