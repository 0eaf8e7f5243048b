import Basics
import Conversations
import Daemons
import Postgres
import Rooms
import Schema
package import Settings

extension ConfigurationCheck {
    private static let patience = Duration.seconds(3)

    /// Reports whether the database can be used, which bus is set, whether the bus can be reached, and which daemons
    /// run on the database. Waits at most three seconds for each answer.
    package mutating func checkBus(of configuration: Configuration) async {
        await checkBridge(of: configuration)
        add("bus: \(configuration.bus.rawValue)")
        let conninfo: String
        switch configuration.database {
        case .privateCluster: return add("daemons: only this one, because the private cluster is used")
        case .libpqEnvironment: conninfo = ""
        case .url(let url): conninfo = url
        }
        guard await checkDatabase(of: configuration, conninfo: conninfo) else { return }
        let isThere = await checkDaemons(of: configuration, conninfo: conninfo)
        switch configuration.bus {
        case .none: break
        case .automatic, .postgresql:
            guard isThere else { return }
            let id = DaemonID()
            await check(NotifyBus(id, configuration.postgres(conninfo: conninfo)), id)
        case .amqp:
            let id = DaemonID()
            guard let url = configuration.amqpURL, let broker = configuration.broker(name: "letsswitch \(id)") else {
                return
            }
            add("broker: \(url)")
            await check(AMQPBus(id, broker), id)
        }
    }

    private mutating func checkBridge(of configuration: Configuration) async {
        guard let url = configuration.amqpURL else { return }
        switch await BridgeProbe.run(url, authorities: configuration.amqpCAFile, within: Self.patience) {
        case .works: add("bridge: conversations are sent to and received from \(url)")
        // This is only a warning, because the daemon waits for the broker.
        case .fails(let reason): add("warning: bridge: \(url): \(reason)")
        }
    }

    /// - Returns: Whether the database can be reached without a connection pooler in transaction mode, and doesn't have
    ///   a schema that this build can't use.
    private mutating func checkDatabase(of configuration: Configuration, conninfo: String) async -> Bool {
        do {
            let postgres = configuration.postgres(conninfo: conninfo)
            try await PoolerProbe.run(postgres, limit: Self.patience)
            try await DatabaseSchema.current.check(postgres, limit: Self.patience)
            return true
        } catch let error where error is TransactionPoolerError || error is UnusableSchemaError {
            refuse("\(configuration.database): \(error)")
        } catch {
            // This is only a warning, because the daemon waits for the database.
            add("warning: \(configuration.database): \(error)")
        }
        return false
    }

    /// - Returns: Whether the database can be reached.
    private mutating func checkDaemons(of configuration: Configuration, conninfo: String) async -> Bool {
        switch await DaemonProbe.run(configuration.postgres(conninfo: conninfo), within: Self.patience) {
        case .noneYet: add("daemons: none has used \(configuration.database) yet")
        case .alive(let daemons):
            if daemons.isEmpty { add("daemons: none is running on \(configuration.database)") }
            for daemon in daemons {
                add(
                    """
                    daemon: running on \(daemon.info.host), build \(daemon.info.build), bus \(daemon.info.bus) \
                    with protocol version \(daemon.info.language); \(daemon.standing)
                    """)
                guard daemon.info.bus != configuration.bus.busName else { continue }
                add("warning: cheers and presence don't pass between that daemon and bus \(configuration.bus.busName)")
            }
        case .fails(let reason):
            add("warning: \(configuration.database): \(reason)")
            return false
        }
        return true
    }

    private mutating func check(_ bus: any Bus, _ id: DaemonID) async {
        switch await BusProbe.run(bus, id: id, within: Self.patience) {
        case .works(let delay):
            add("bus: works, round trip \(delay.wholeMilliseconds) ms")
        case .fails(let reason): refuse("bus: \(reason)")
        }
    }
}
