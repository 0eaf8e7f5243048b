import Basics
import Bridge
import Daemons
import Postgres
import Rooms
package import Settings

extension ConfigurationCheck {
    private static let patience = Duration.seconds(3)

    /// Says which bus is set and whether it can be reached, and which daemons are alive on the database. Takes nine seconds at most.
    package mutating func checkBus(of configuration: Configuration) async {
        await checkBridge(of: configuration)
        add("bus: \(configuration.bus.rawValue)")
        let conninfo: String
        switch configuration.database {
        case .privateCluster: return add("daemons: this one alone, which has a private cluster")
        case .libpqEnvironment: conninfo = ""
        case .url(let url): conninfo = url
        }
        let isThere = await checkDaemons(of: configuration, conninfo: conninfo)
        switch configuration.bus {
        case .none: break
        case .automatic, .postgresql:
            guard isThere else { return }
            let id = DaemonID()
            await check(NotifyBus(id, configuration.postgres(conninfo: conninfo)), id)
        case .amqp:
            guard let url = configuration.amqpURL else { return }
            add("broker: \(url)")
            let id = DaemonID()
            await check(AMQPBus(id, url: url, authorities: configuration.amqpCAFile), id)
        }
    }

    private mutating func checkBridge(of configuration: Configuration) async {
        guard let url = configuration.amqpURL else { return }
        switch await BridgeProbe.run(url, authorities: configuration.amqpCAFile, within: Self.patience) {
        case .works: add("bridge: conversations go to \(url), and come from there")
        // The daemon waits for it.
        case .fails(let reason): add("warning: bridge: \(url): \(reason)")
        }
    }

    /// - Returns: Whether the database can be reached.
    private mutating func checkDaemons(of configuration: Configuration, conninfo: String) async -> Bool {
        do {
            let daemons = try await Self.daemons(configuration.postgres(conninfo: conninfo))
            if daemons.isEmpty { add("daemons: none is alive on \(configuration.database)") }
            for daemon in daemons {
                add(
                    """
                    daemon: alive on \(daemon.info.host), build \(daemon.info.build), bus \(daemon.info.bus), \
                    whose language has version \(daemon.info.language); \(Self.standing(daemon.bus))
                    """)
                guard daemon.info.bus != configuration.bus.busName else { continue }
                add("warning: ales and presence don't cross between bus \(configuration.bus.busName) and that one")
            }
        } catch let error as PostgresError where error.kind == .server(sqlState: Self.undefinedTable) {
            add("daemons: none has been on \(configuration.database) yet")
        } catch {
            add("warning: \(configuration.database): \(error)")
            return false
        }
        return true
    }

    /// In words.
    private static func standing(_ bus: BusStanding?) -> String {
        guard let bus else { return "how its bus is its build doesn't say" }
        let behind = bus.delay.map { ", \($0.wholeMilliseconds) ms behind" } ?? ""
        return """
            it \(bus.isConnected ? "stands" : "is away, or not needed")\(behind); \
            ales lost: \(bus.lost), not told to others: \(bus.dropped)
            """
    }

    private static func daemons(_ configuration: PostgresConfiguration) async throws -> [DaemonReport] {
        var configuration = configuration
        configuration.maxConnections = 1
        configuration.stallTimeout = patience
        let client = PostgresClient(configuration: configuration)
        do {
            let daemons = try await DaemonStore(database: client).alive()
            await client.shutdown()
            return daemons
        } catch {
            await client.shutdown()
            throw error
        }
    }

    private mutating func check(_ bus: any Bus, _ id: DaemonID) async {
        switch await BusProbe.run(bus, id: id, within: Self.patience) {
        case .works(let delay):
            add("bus: reached, a packet took \(delay.wholeMilliseconds) ms out and back")
        case .fails(let reason): refuse("bus: \(reason)")
        }
    }

    /// SQLSTATE, also where there is no schema.
    private static let undefinedTable = "42P01"
}
