import Rooms
import Sockets

/// Where a user's conversations are heard on one loop: whoever has it is told by its room, and counts among those who listen.
struct ConversationPlace {
    private let user: String
    private let connection: Connection

    init(of peer: any RoomListener, as user: String, in conversations: Conversations, on reactor: Reactor) {
        self.user = user
        conversations.audience.enter(user)
        connection = conversations.rooms.subscribe(peer, as: user, on: reactor)
    }

    func leave(_ conversations: Conversations) {
        conversations.audience.leave(user)
        conversations.rooms.unsubscribe(connection)
    }
}
