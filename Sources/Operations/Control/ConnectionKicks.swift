import Domain
import FoundationEssentials
package import Observability
package import Postgres
package import Reminders
package import Rooms
package import Server
import Wire

/// Ends connections for operators: the connections of a device or of an address, on every daemon of a database.
///
///     NOTIFY letsswitch_kicked  payload: a ``KickNotice``
package struct ConnectionKicks: Sendable {
    package static let channel = "letsswitch_kicked"
    /// The names of the statements, for metrics.
    package static let statementNames = [notify.name]
    private static let notify = PostgresStatement(name: "notify_kick", sql: "SELECT pg_notify($1, $2)")

    let daemon: DaemonID
    private let application: Application
    private let database: PostgresClient
    private let log: Log
    /// Finds the tasks of a device whose rooms are open. Connections in rooms are known only by these tasks.
    private let store: ReminderStore
    /// The maximum number of tasks in one query.
    private static let batchSize = 1_000

    package init(
        daemon: DaemonID, application: Application, database: PostgresClient, store: ReminderStore, log: Log
    ) {
        self.daemon = daemon
        self.application = application
        self.database = database
        self.log = log
        self.store = store
    }

    /// Ends the connection with this number on this daemon.
    func end(number: UInt64) async -> [ConnectionRecord] {
        await application.endConnections { $0.id == number }
    }

    /// Ends this daemon's connections from an address, or of a device with this id. Connections in rooms that only the
    /// database can assign to the device stay open.
    func end(named target: String) async -> [ConnectionRecord] {
        let address = IPAddress(target)
        return await application.endConnections { record in
            if let address, let own = record.address {
                // If the address comes from a proxy's header, only its network is known.
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

    /// Ends the device's connections in rooms on this daemon. Throws `PostgresError`.
    func endInRooms(of device: DeviceID) async throws -> [ConnectionRecord] {
        let tasks = Set(try await store.tasksInRooms(of: device).map(\.text))
        guard !tasks.isEmpty else { return [] }
        return await application.endConnections { $0.facts.role.map(tasks.contains) ?? false }
    }

    /// Returns the devices with this tag, among the connections of this daemon that name a device.
    func devices(_ tag: DeviceTag, _ key: DeviceTag.Key) async -> Set<DeviceID> {
        var found: Set<DeviceID> = []
        await application.connections { records in
            for owner in records.compactMap(\.facts.owner) where DeviceTag(owner, under: key) == tag {
                found.insert(DeviceID(stored: owner))
            }
        }
        return found
    }

    /// Returns the devices with this tag whose connections in rooms are known only by their tasks. Throws
    /// `PostgresError`.
    func devicesInRooms(_ tag: DeviceTag, _ key: DeviceTag.Key) async throws -> Set<DeviceID> {
        var tasks: Set<UUID> = []
        await application.connections { records in
            tasks.formUnion(records.compactMap { $0.facts.role.flatMap(UUID.init(uuidString:)) })
        }
        var found: Set<DeviceID> = []
        var left = Array(tasks)[...]
        while !left.isEmpty {
            for device in try await store.devices(ofTasks: Array(left.prefix(Self.batchSize)))
            where DeviceTag(device.text, under: key) == tag { found.insert(device) }
            left = left.dropFirst(Self.batchSize)
        }
        return found
    }

    /// Notifies the other daemons to end the same connections. Throws `PostgresError`.
    func notifyDaemons(_ target: KickTarget) async throws {
        let notice = KickNotice(from: daemon.description, target)
        _ = try await database.query(Self.notify, [.text(Self.channel), .text(notice.payload)])
    }

    /// Ends the connections that another daemon's notice names. Ignores this daemon's own notices.
    ///
    /// The operator is connected to a different daemon, so a failure is logged here.
    package func receive(_ payload: String) async {
        guard let notice = KickNotice(payload: payload), notice.daemon != daemon.description else { return }
        do {
            switch notice.target {
            case .named(let target):
                _ = await end(named: target)
                if let device = try? DeviceID(target) { try await endRooms(of: device) }
            case .device(let device):
                _ = await end(device)
                try await endRooms(of: device)
            case .tagged(let tag, let key):
                var found = await devices(tag, key)
                if found.isEmpty {
                    found = try await UnavailabilityRetries.run { try await devicesInRooms(tag, key) }
                }
                for device in found { _ = await end(device) }
                for device in found {
                    try await endRooms(of: device)
                    // The daemon that received the command may itself have sockets of the device in its rooms, which
                    // name no device. So that daemon is notified too.
                    try await UnavailabilityRetries.run { try await notifyDaemons(.device(device)) }
                }
            }
        } catch {
            log.warning("connections that an operator kicks may stay", ["error": .string("\(error)")])
        }
    }

    private func endRooms(of device: DeviceID) async throws {
        _ = try await UnavailabilityRetries.run { try await endInRooms(of: device) }
    }
}
