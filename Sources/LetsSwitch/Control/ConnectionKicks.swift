import Domain
import FoundationEssentials
import Postgres
import Rooms
import Server
import Wire

/// Ends connections for operators: those of a device or of an address, on every daemon of a database.
///
///     NOTIFY letsswitch_kicked  payload: a daemon that has done its part, and what it was asked for: "<id> <device or address>"
struct ConnectionKicks: Sendable {
    static let channel = "letsswitch_kicked"
    /// The names that metrics go by.
    static let statementNames = [notify.name]
    private static let notify = PostgresStatement(name: "notify_kick", sql: "SELECT pg_notify($1, $2)")

    let daemon: DaemonID
    let application: Application
    let database: PostgresClient
    /// A device's tasks whose rooms are open: by these it is known there.
    let tasksInRooms: @Sendable (DeviceID) async throws -> [UUID]

    /// The one with this number, of this daemon.
    func end(number: UInt64) async -> [ConnectionRecord] {
        await application.endConnections { $0.id == number }
    }

    /// Of this daemon: those of an address, or of a device by its id or as this daemon's log calls it; of rooms' sockets none that only the
    /// database knows to be the device's.
    func end(of target: String) async -> [ConnectionRecord] {
        let address = IPAddress(target)
        return await application.endConnections { record in
            if let address, let own = record.address {
                // Of one that a proxy has named only the network is known.
                return own == address || (own == own.subscriber && own == address.subscriber)
            }
            guard let owner = record.facts.owner else { return false }
            return owner.utf8.elementsEqual(target.utf8) || DeviceTag(owner).description == target
        }
    }

    /// Those, too. Throws `PostgresError`.
    func endInRooms(of target: String) async throws -> [ConnectionRecord] {
        guard let device = try? DeviceID(target) else { return [] }
        let tasks = Set(try await tasksInRooms(device).map(\.uuidString))
        guard !tasks.isEmpty else { return [] }
        return await application.endConnections { $0.facts.role.map(tasks.contains) ?? false }
    }

    /// Has the other daemons do the same. Throws `PostgresError`.
    func tellOthers(of target: String) async throws {
        _ = try await database.query(Self.notify, [.text(Self.channel), .text("\(daemon) \(target)")])
    }

    /// Another daemon's word, or our own come back.
    func receive(_ payload: String) async {
        let words = payload.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0] != daemon.description else { return }
        let target = String(words[1])
        _ = await end(of: target)
        // The database has just spoken; if it is gone since, so is what it knew.
        _ = try? await endInRooms(of: target)
    }
}
