import FoundationEssentials
import Messaging

/// Where a subscriber's conversations stand, and who is there.
extension ConversationSubscriber {
    /// What where its conversations stand says of who it is.
    enum Opening {
        case opened
        /// The device has another name than it had: it is to hear in that one's room.
        case otherUser
    }

    /// Where its conversations stand.
    func opened(_ positions: ConversationPositions) -> Opening {
        // Names are of ASCII.
        guard positions.user == user else {
            user = positions.user
            if case .opening = state { return .otherUser }
            // It was erased, and is somebody else since.
            end(.erased)
            return .opened
        }
        let allowed = positions.offsets.filter { member.allows($0.conversation) }
        switch state {
        case .opening:
            state = .hearing(ConversationProgress(allowed, after: after, othersAreNew: othersAreNew), isReading: false)
            after = [:]
            sink.send(
                .handshake(
                    id: UUID(), ConversationPositions(user: positions.user, userID: positions.userID, offsets: allowed))
            )
            beginPresence(positions, allowed)
            if mayHaveMissed { shard.readPositions(for: self) }
        case .hearing(var progress, let isReading):
            progress.found(allowed)
            // That it has left may have been missed as well.
            for position in allowed where position.hasLeft {
                presence?.leave(position.conversation, at: position.lastOffset)
            }
            state = .hearing(progress, isReading: isReading)
        }
        proceed()
        return .opened
    }

    // MARK: Who is there

    private func beginPresence(_ positions: ConversationPositions, _ allowed: [ConversationPositions.Position]) {
        let presence = ConversationPresence(
            of: positions.userID, shard.conversations, on: shard.reactor,
            changed: sink.wantsPresence ? { [weak self] in self?.tellPresence(in: $0) } : nil)
        self.presence = presence
        for position in allowed.prefix(ConversationEvent.offsetsInHandshake) where !position.hasLeft {
            presence.enter(position.conversation)
        }
    }

    /// Somebody has come or gone.
    func tellPresence(in conversation: UUID) {
        guard let users = presence?.company(of: conversation, orAlone: sink.wantsPresenceAlone) else { return }
        guard let names = shard.names(of: users, for: self, in: conversation) else { return }
        presence?.told(in: conversation)
        sink.send(.presence(conversation: conversation, users: names))
    }

    func endPresence() {
        presence?.leaveAll()
        presence = nil
    }
}
