import FoundationEssentials
import Messaging
package import Rooms
import Sockets

/// The rooms in which conversations are heard, and those in which they are who have them. May be used from anywhere.
package struct ConversationRooms: Sendable {
    private let rooms: Rooms
    private let keys: RoomKeys

    package init(_ rooms: Rooms, keys: RoomKeys) {
        self.rooms = rooms
        self.keys = keys
    }

    /// Where a user hears its conversations: what goes by the binding `#.<user>.#`, since each word of a routing key is a user.
    private func room(of user: Substring) -> UUID { keys.room(.conversations, Array(user.utf8)) }

    /// Where those are who have a conversation.
    func company(of conversation: UUID) -> UUID {
        keys.room(.company, withUnsafeBytes(of: conversation.uuid) { Array($0) })
    }

    /// Tells those who take part what was said.
    func publish(_ page: ConversationPage) {
        let publication = ConversationPublication(page: page)
        rooms.publish(page.routingKey.split(separator: ".").map { (publication, room(of: $0)) })
    }

    /// Tells these users.
    func publish(_ change: ConversationChange, to users: [Substring]) {
        rooms.publish(users.map { (change, room(of: $0)) })
    }

    // MARK: On a loop

    /// A place in the user's room.
    func subscribe(_ peer: any RoomListener, as user: String, on reactor: Reactor) -> Connection {
        rooms.subscribe(peer, to: room(of: user[...]), on: reactor)
    }

    func unsubscribe(_ connection: Connection) { rooms.unsubscribe(connection) }

    /// For one who is to be in companies.
    func makeSender(on reactor: Reactor) -> Sender { rooms.shard(on: reactor).makeSender() }
}
