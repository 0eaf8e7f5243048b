import Domain
package import FoundationEssentials
import Postgres
package import Rooms
package import Scheduling
package import Server
import Wire

/// Ends a match's room before its time.
package struct RoomEnding: Sendable {
    private let rooms: Rooms
    private let application: Application
    private let closeInDatabase: @Sendable (UUID) async throws -> RoomClosing

    /// - Parameter closeInDatabase: Of which the other daemons hear.
    package init(
        _ rooms: Rooms, _ application: Application,
        closeInDatabase: @escaping @Sendable (UUID) async throws -> RoomClosing
    ) {
        self.rooms = rooms
        self.application = application
        self.closeInDatabase = closeInDatabase
    }

    /// - Returns: How many connections were in it on this daemon.
    func run(_ room: UUID, _ reply: ControlReply) async throws -> Int {
        // With rooms that anybody makes up, the database knows of none. Before it tells, or they would be gone.
        let inside = await application.countConnections(in: room.text)
        do {
            switch try await closeInDatabase(room) {
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
