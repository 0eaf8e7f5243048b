import Domain
import FoundationEssentials
package import Rooms
import Sockets

/// Two kinds of rooms: a room for each user, in which the user's conversations are published, and a room for each
/// conversation, whose members are the present users. Any thread may use this type.
package struct ConversationRooms: Sendable {
    private let rooms: Rooms
    private let keys: RoomKeys

    package init(_ rooms: Rooms, keys: RoomKeys) {
        self.rooms = rooms
        self.keys = keys
    }

    /// Returns the room of a user, in which the user's conversations are published. A conversation's routing key has
    /// the names of all its participants as words. So the room receives what a RabbitMQ queue with the binding
    /// `#.<user>.#` would receive.
    private func room(of user: Substring) -> UUID { keys.room(.conversations, Array(user.utf8)) }

    /// The room of the users that are present in a conversation.
    func presenceRoom(of conversation: UUID) -> UUID {
        keys.room(.participants, withUnsafeBytes(of: conversation.uuid) { Array($0) })
    }

    /// Publishes messages in the rooms of the participants.
    func publish(_ page: ConversationPage) {
        let publication = ConversationPublication(page: page)
        rooms.publish(page.routingKey.split(separator: ".").map { (publication, room(of: $0)) })
    }

    /// Publishes a change or a reaction in the rooms of these users.
    func publish(_ hint: any Message, to users: [Substring]) {
        rooms.publish(users.map { (hint, room(of: $0)) })
    }

    // MARK: Subscriptions on a loop

    /// Adds a listener to the user's room.
    func subscribe(_ peer: any RoomListener, as user: String, on reactor: Reactor) -> Connection {
        rooms.subscribe(peer, to: room(of: user[...]), on: reactor)
    }

    func unsubscribe(_ connection: Connection) { rooms.unsubscribe(connection) }

    /// Creates a ``Sender``, through which a subscriber enters the rooms from ``presenceRoom(of:)``.
    func makeSender(on reactor: Reactor) -> Sender { rooms.shard(on: reactor).makeSender() }
}
