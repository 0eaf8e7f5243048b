package import Domain
package import FoundationEssentials
package import Postgres
package import Rooms
package import Server
import Wire

/// Ends connections for operators: those of a device or of an address, on every daemon of a database.
///
///     NOTIFY letsswitch_kicked  payload: a ``KickNotice``
package struct ConnectionKicks: Sendable {
    package static let channel = "letsswitch_kicked"
    /// The names that metrics go by.
    package static let statementNames = [notify.name]
    private static let notify = PostgresStatement(name: "notify_kick", sql: "SELECT pg_notify($1, $2)")

    let daemon: DaemonID
    private let application: Application
    private let database: PostgresClient
    /// A device's tasks whose rooms are open: by these it is known there.
    private let tasksInRooms: @Sendable (DeviceID) async throws -> [UUID]
    /// Whose tasks these are.
    private let devicesOfTasks: @Sendable ([UUID]) async throws -> [DeviceID]
    /// So many tasks are asked about at once.
    private static let helping = 1_000

    package init(
        daemon: DaemonID, application: Application, database: PostgresClient,
        tasksInRooms: @escaping @Sendable (DeviceID) async throws -> [UUID],
        devicesOfTasks: @escaping @Sendable ([UUID]) async throws -> [DeviceID]
    ) {
        self.daemon = daemon
        self.application = application
        self.database = database
        self.tasksInRooms = tasksInRooms
        self.devicesOfTasks = devicesOfTasks
    }

    /// The one with this number, of this daemon.
    func end(number: UInt64) async -> [ConnectionRecord] {
        await application.endConnections { $0.id == number }
    }

    /// Of this daemon: those of an address, or of a device by its id; of rooms' sockets none that only the database knows to be the device's.
    func end(named target: String) async -> [ConnectionRecord] {
        let address = IPAddress(target)
        return await application.endConnections { record in
            if let address, let own = record.address {
                // Of one that a proxy has named only the network is known.
                return own == address || (own == own.subscriber && own == address.subscriber)
            }
            return record.facts.owner.map { $0.utf8.elementsEqual(target.utf8) } ?? false
        }
    }

    func end(_ device: DeviceID) async -> [ConnectionRecord] {
        await application.endConnections { record in
            record.facts.owner.map { DeviceID(stored: $0) == device } ?? false
        }
    }

    /// Those, too. Throws `PostgresError`.
    func endInRooms(of device: DeviceID) async throws -> [ConnectionRecord] {
        let tasks = Set(try await tasksInRooms(device).map(\.text))
        guard !tasks.isEmpty else { return [] }
        return await application.endConnections { $0.facts.role.map(tasks.contains) ?? false }
    }

    /// Whom a tag means, of those who are connected to this daemon and say who they are.
    func devices(_ tag: DeviceTag, _ key: DeviceTag.Key) async -> Set<DeviceID> {
        var found: Set<DeviceID> = []
        await application.connections { records in
            for owner in records.compactMap(\.facts.owner) where DeviceTag(owner, under: key) == tag {
                found.insert(DeviceID(stored: owner))
            }
        }
        return found
    }

    /// Those whom only their tasks tell, too. Throws `PostgresError`.
    func devicesInRooms(_ tag: DeviceTag, _ key: DeviceTag.Key) async throws -> Set<DeviceID> {
        var tasks: Set<UUID> = []
        await application.connections { records in
            tasks.formUnion(records.compactMap { $0.facts.role.flatMap(UUID.init(uuidString:)) })
        }
        var found: Set<DeviceID> = []
        var left = Array(tasks)[...]
        while !left.isEmpty {
            for device in try await devicesOfTasks(Array(left.prefix(Self.helping)))
            where DeviceTag(device.text, under: key) == tag { found.insert(device) }
            left = left.dropFirst(Self.helping)
        }
        return found
    }

    /// Has the other daemons do the same. Throws `PostgresError`.
    func tellOthers(_ target: KickTarget) async throws {
        let notice = KickNotice(from: daemon.description, target)
        _ = try await database.query(Self.notify, [.text(Self.channel), .text(notice.payload)])
    }

    /// Another daemon's word, or our own come back.
    package func receive(_ payload: String) async {
        guard let notice = KickNotice(payload: payload), notice.daemon != daemon.description else { return }
        // The database has just spoken; if it is gone since, so is what it knew.
        switch notice.target {
        case .named(let target):
            _ = await end(named: target)
            if let device = try? DeviceID(target) { _ = try? await endInRooms(of: device) }
        case .device(let device):
            _ = await end(device)
            _ = try? await endInRooms(of: device)
        case .tagged(let tag, let key):
            let connected = await devices(tag, key)
            let found = connected.isEmpty ? (try? await devicesInRooms(tag, key)) ?? [] : connected
            for device in found {
                _ = await end(device)
                _ = try? await endInRooms(of: device)
                // Whoever was asked doesn't know who that is, and may have its sockets in rooms.
                try? await tellOthers(.device(device))
            }
        }
    }
}
