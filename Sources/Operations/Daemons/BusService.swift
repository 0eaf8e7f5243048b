import Basics
package import Observability
package import Postgres
package import Rooms

/// This daemon among those on its database: knows which live, and has the rooms hang together with theirs while there are any.
///
/// | `--bus`          | a bus stands                                 |
/// |------------------|----------------------------------------------|
/// | auto             | while another daemon is alive, and the grace |
/// | postgresql, amqp | always                                       |
/// | none             | never; the others are told so, and log it    |
package actor BusService: Service {
    private let choice: BusChoice
    private let own: DaemonInfo
    private let database: PostgresClient
    private let metrics: BusMetrics
    private let log: Log
    private let grace: Duration
    private let forgotten: @Sendable () async -> Void
    private let makeRelay: @Sendable (@escaping @Sendable (RelayReport) -> Void) -> BusRelay
    private var registry: DaemonRegistry?
    private var relay: BusRelay?
    /// The last relay's end. The next one begins after it: the rooms hang together by one at a time.
    private var parting: Task<Void, Never>?
    private var others: Set<DaemonID> = []
    /// Of these, who speaks our language on our bus.
    private var partners: Set<DaemonID> = []
    /// `nil` once it is over.
    private var arrival: BusArrival? = BusArrival()
    /// Ends the bus, once nobody is awaited any more who was on another daemon.
    private var ending: Task<Void, Never>?
    private var isStopping = false
    /// Over once it is known that there are no others, or they are known on the bus.
    private let settling = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - database: The pool for what isn't urgent.
    ///   - forgotten: Called when others had given this daemon up, and may have forgotten what the database knew of it.
    ///   - bus: Makes a bus of the kind that is chosen; called each time one is needed.
    package init(
        _ choice: BusChoice, _ own: DaemonInfo, rooms: Rooms, grace: Duration, database: PostgresClient,
        metrics: BusMetrics, log: Log, forgotten: @escaping @Sendable () async -> Void = {},
        bus: @escaping @Sendable () -> any Bus
    ) {
        self.choice = choice
        self.grace = grace
        self.own = own
        self.database = database
        self.metrics = metrics
        self.log = log
        self.forgotten = forgotten
        makeRelay = { report in BusRelay(own.id, bus: bus(), rooms: rooms, grace: grace, report: report) }
    }

    // MARK: Life

    func run() async {
        guard !isStopping else { return }
        let registry = DaemonRegistry(
            own, bus: { [metrics] in metrics.standing }, database: database, log: log,
            tell: { [weak self] in await self?.take($0) })
        self.registry = registry
        if choice == .postgresql || choice == .amqp { begin() }
        Task {
            await registry.hasLooked()
            arrive { $0.hasLooked = true }
        }
        await registry.run()
    }

    /// Says farewell on the bus, and takes this daemon out of the database.
    func stop(within limit: Duration) async {
        isStopping = true
        // A bus that stands still leaves the database its time.
        await Task { await self.end() }.ends(within: limit / 2)
        await registry?.stop(within: limit / 2)
    }

    /// Waits until the rooms hang together with those of other daemons, if there are any, as ``BusArrival`` says, but no longer than
    /// `limit`. Once.
    package func waitUntilSettled(within limit: Duration) async {
        await withTimeout(limit) {
            for await _ in settling.stream { return }
        } onTimeout: { [settling] in
            settling.continuation.finish()
        }
    }

    /// A daemon has come or gone, or notifications may have been missed.
    ///
    /// - Parameter id: Which one, as the notification says.
    package func lookAgain(of id: String? = nil) async {
        await registry?.lookAgain(of: id)
    }

    private func arrive(_ step: (inout BusArrival) -> Void) {
        guard var arrival else { return }
        step(&arrival)
        self.arrival = arrival
        if arrival.isOver(hasBus: relay != nil, partners: partners) { endArrival() }
    }

    private func busStands() async {
        arrive { $0.isConnected = true }
        guard arrival != nil else { return }
        // Nobody cancels it.
        try? await Task.sleep(for: BusArrival.patience)
        if arrival?.hasLooked == true { endArrival() }
    }

    private func endArrival() {
        arrival = nil
        settling.continuation.yield()
    }

    // MARK: The others

    func take(_ news: DaemonRegistry.News) async {
        switch news {
        case .others(let daemons):
            metrics.noteDaemons(daemons)
            let alive = Set(daemons.map(\.id))
            for newcomer in daemons where !others.contains(newcomer.id) { compare(newcomer) }
            await relay?.forget(others.subtracting(alive))
            others = alive
            partners = Set(daemons.filter { $0.bus == own.bus && $0.language == own.language }.map(\.id))
            guard choice == .automatic else { return }
            if daemons.contains(where: { $0.bus == own.bus }) { begin() } else { endLater() }
        case .forgotten:
            await relay?.introduceAgain()
            await forgotten()
        }
    }

    private func compare(_ other: DaemonInfo) {
        guard other.bus == own.bus, other.language != own.language else { return }
        log.error(
            other.language > own.language
                ? "cheers and presence don't pass between these builds: upgrade this daemon"
                : "cheers and presence don't pass between these builds: upgrade the other daemon",
            [
                "host": .string(other.host), "build": .string(other.build), "language": .int(other.language),
                "own": .int(own.language),
            ])
    }

    // MARK: The bus

    private func begin() {
        ending?.cancel()
        ending = nil
        guard relay == nil, !isStopping else { return }
        let (kind, metrics, log) = (BusMetrics.Kind(rawValue: own.bus) ?? .none, metrics, log)
        metrics.noteBus(kind, isConnected: false)
        let relay = makeRelay { [weak self, weak registry] report in
            switch report {
            case .connected:
                Task { await self?.busStands() }
                metrics.noteBus(kind, isConnected: true)
                log.info("the bus is connected", ["bus": .string(kind.rawValue)])
            case .disconnected(let message):
                metrics.noteBus(kind, isConnected: false)
                log.warning("the bus is disconnected", ["bus": .string(kind.rawValue), "error": .string(message)])
            case .lost(let ales): metrics.lost.add(Int(clamping: ales))
            case .dropped(let ales): metrics.dropped.add(Int(clamping: ales))
            case .sent(let packets): metrics.packets.add(.sent, packets)
            case .received(let packets, let senders):
                metrics.packets.add(.received, packets)
                for sender in senders { registry?.heard(from: sender) }
            case .introduced(let daemons): Task { await self?.arrive { $0.introduced.formUnion(daemons) } }
            case .delay(let delay):
                switch metrics.noteEcho(after: delay) {
                case .lost:
                    log.warning(
                        "the bus is connected, but delivers nothing",
                        ["bus": .string(kind.rawValue), "seconds": .int(Int(delay / .seconds(1)))])
                case .regained: log.info("the bus delivers again", ["bus": .string(kind.rawValue)])
                case nil: break
                }
            }
        }
        self.relay = relay
        Task { [parting] in
            await parting?.value
            await relay.begin()
        }
    }

    private func endLater() {
        guard relay != nil, ending == nil else { return }
        ending = Task {
            // Cancelled by begin() and end(), and then it is over.
            guard (try? await Task.sleep(for: grace)) != nil, !Task.isCancelled else { return }
            // Not to be cancelled any more.
            ending = nil
            await end()
        }
    }

    private func end() async {
        ending?.cancel()
        ending = nil
        if let relay {
            self.relay = nil
            parting = Task { [parting] in
                await parting?.value
                await relay.end()
                if self.relay == nil { metrics.noteBus(.none, isConnected: false) }
            }
        }
        await parting?.value
    }
}
