import Rooms
import Sockets

/// A subscriber's membership in the room through which its user receives messages. The room's part on the subscriber's
/// loop has the connection. While the membership lasts, ``ConnectedUsers`` counts it as one subscriber of the user.
struct ConversationMembership {
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
