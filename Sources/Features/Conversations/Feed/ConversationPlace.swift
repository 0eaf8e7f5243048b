import Rooms
import Sockets

/// A subscriber's connection to its user's room on one loop. It counts as one of the user's subscribers.
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
