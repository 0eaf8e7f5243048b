/// Several servers that act as one: daemons on one database, or relays connected by NOTIFY. Each server has its own
/// processor if there are enough processors.
struct Fleet {
    let servers: [Server]
    private let processes: [ServerProcess]

    fileprivate init(_ members: [(ServerProcess, Server)]) {
        processes = members.map(\.0)
        servers = members.map(\.1)
    }

    func stop() {
        for process in processes { process.stop() }
    }
}

extension Laboratory {
    /// Starts daemons on one database. Each has one loop, open rooms, and no limit on messages.
    ///
    /// - Parameters:
    ///   - database: The database's conninfo.
    ///   - flags: The options that select the bus between the daemons, if it isn't the default.
    func daemons(
        _ count: Int, name: String, database: String, flags: [String] = []
    ) throws(BenchFailure) -> Fleet {
        var members: [(ServerProcess, Server)] = []
        for number in 0..<count {
            let daemon = try daemon(
                name: "\(name)-\(number)", flags: Self.oneLoop + ["--message-rate", "0"] + flags,
                on: processor(number), database: database)
            members.append((daemon.process, daemon.server))
        }
        let fleet = Fleet(members)
        if count > 1 { for server in fleet.servers { try ServerMetrics.awaitBus(of: server, others: count - 1) } }
        return fleet
    }

    /// Starts `count` relays that are connected to each other.
    func relays(_ count: Int) throws(BenchFailure) -> Fleet {
        var members: [(ServerProcess, Server)] = []
        for number in 0..<count {
            let place = RelayBus.Place(number: number, count: count, conninfo: conninfo)
            let relay = try RelayServer(
                name: "relay-\(count)-\(number)", flags: count > 1 ? ["--relay-bus", place.text] : [],
                on: processor(number), directory: directory)
            members.append((relay.process, relay.server))
        }
        return Fleet(members)
    }

    private func processor(_ number: Int) -> Processors {
        processors.single(number % processors.numbers.count) ?? processors
    }
}
