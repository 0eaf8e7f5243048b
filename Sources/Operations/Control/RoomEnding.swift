import Domain
import FoundationEssentials
import Postgres
package import Reminders
package import Rooms
package import Server
import Wire

/// Closes a match's room early.
package struct RoomEnding: Sendable {
    private let rooms: Rooms
    private let application: Application
    private let store: ReminderStore

    /// - Parameter store: Closes the room in the database, which notifies the other daemons.
    package init(_ rooms: Rooms, _ application: Application, store: ReminderStore) {
        self.rooms = rooms
        self.application = application
        self.store = store
    }

    /// - Returns: The number of connections in the room on this daemon.
    func run(_ room: UUID, _ reply: ControlReply) async throws -> Int {
        // Connections are counted before the database notifies this daemon, because the notification closes them. With
        // `--open-rooms`, the database doesn't know the room.
        let inside = await application.countConnections(in: room.text)
        do {
            switch try await store.closeRoom(room) {
            case .closed: break
            case .notOpen: throw ControlFailure("the room isn't open yet")
            case .over where inside == 0: throw ControlFailure("the room has closed")
            case .unknown where inside == 0:
                throw ControlFailure(
                    "there is no such room, and it has no members on this daemon; other daemons were asked to close it")
            case .over, .unknown: break
            }
        } catch let error as PostgresError where error.isUnavailable && inside > 0 {
            reply.note("the database is unavailable: the room was closed on this daemon only")
        }
        rooms.close([room])
        reply.row { row in
            row.member("room", room.text)
            row.member("connections", inside)
        }
        return inside
    }
}
