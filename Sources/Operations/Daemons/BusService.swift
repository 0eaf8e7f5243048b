import Basics
package import Observability
package import Postgres
package import Rooms

/// Connects this daemon with the others on its database. The service knows the live daemons. While there are other
/// daemons, it connects their rooms with the rooms of this one.
///
/// ```
/// | `--bus`          | a bus is connected                              |
/// |------------------|-------------------------------------------------|
/// | auto             | while another daemon is alive, and for the grace |
/// | postgresql, amqp | always                                          |
/// | none             | never; the others log it                        |
/// ```
package actor BusService: Service {
    private let choice: BusChoice
    private let own: DaemonInfo
    private let database: PostgresClient
    private let metrics: BusMetrics
    private let log: Log
    private let grace: Duration
    private let removed: @Sendable () async -> Void
    private let makeRelay: @Sendable (@escaping @Sendable (RelayReport) -> Void) -> BusRelay
    private var registry: DaemonRegistry?
    private var relay: BusRelay?
    /// The end of the last relay. The next relay begins after it, because the rooms support one relay at a time.
    private var parting: Task<Void, Never>?
    private var others: Set<DaemonID> = []
    /// The other daemons that have this daemon's bus and version.
    private var partners: Set<DaemonID> = []
    /// `nil` after this daemon has arrived.
    private var arrival: BusArrival? = BusArrival()
    /// The task that ends the bus after the grace period of people on other daemons.
    private var ending: Task<Void, Never>?
    private var isStopping = false
    /// Receives an element when there are no other daemons, or when the rooms of all are known.
    private let settling = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    /// - database: The pool for work that isn't urgent.
    /// - removed: Called after the other daemons considered this daemon ended. The other daemons may have removed this
    ///   daemon's state in the database.
    /// - bus: Makes a bus of the chosen kind each time one is needed.
    package init(
        _ choice: BusChoice, _ own: DaemonInfo, rooms: Rooms, grace: Duration, database: PostgresClient,
        metrics: BusMetrics, log: Log, removed: @escaping @Sendable () async -> Void = {},
        bus: @escaping @Sendable () -> any Bus
    ) {
        self.choice = choice
        self.grace = grace
        self.own = own
        self.database = database
        self.metrics = metrics
        self.log = log
        self.removed = removed
        makeRelay = { report in BusRelay(own.id, bus: bus(), rooms: rooms, grace: grace, report: report) }
    }

    // MARK: Life

    func run() async {
        guard !isStopping else { return }
        let registry = DaemonRegistry(
            own, bus: { [metrics] in metrics.status }, database: database, log: log,
            notify: { [weak self] in await self?.take($0) })
        self.registry = registry
        if choice == .postgresql || choice == .amqp { begin() }
        Task {
            await registry.hasLooked()
            arrive { $0.hasLooked = true }
        }
        await registry.run()
    }

    /// Sends a goodbye on the bus, and removes this daemon's row.
    func stop(within limit: Duration) async {
        isStopping = true
        // Half of the time is for the database, because a blocked bus could use all of it.
        await Task { await self.end() }.ends(within: limit / 2)
        await registry?.stop(within: limit / 2)
    }

    /// Waits until the rooms are connected with those of other daemons, as ``BusArrival`` says, at most for `limit`.
    /// Must be called only once.
    package func waitUntilSettled(within limit: Duration) async {
        await withTimeout(limit) {
            for await _ in settling.stream { return }
        } onTimeout: { [settling] in
            settling.continuation.finish()
        }
    }

    /// Reads the daemons' rows without waiting for the next beat. Called if a daemon has started or ended, or if
    /// notifications may be lost.
    ///
    /// - Parameter id: The daemon named in the notification.
    package func lookAgain(of id: String? = nil) async {
        await registry?.lookAgain(of: id)
    }

    private func arrive(_ step: (inout BusArrival) -> Void) {
        guard var arrival else { return }
        step(&arrival)
        self.arrival = arrival
        if arrival.isOver(hasBus: relay != nil, partners: partners) { endArrival() }
    }

    private func busConnected() async {
        arrive { $0.isConnected = true }
        guard arrival != nil else { return }
        // This sleep is never cancelled.
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
            await relay?.remove(others.subtracting(alive))
            others = alive
            partners = Set(daemons.filter { $0.bus == own.bus && $0.language == own.language }.map(\.id))
            guard choice == .automatic else { return }
            if daemons.contains(where: { $0.bus == own.bus }) { begin() } else { endLater() }
        case .removed:
            await relay?.announceAgain()
            await removed()
        }
    }

    private func compare(_ other: DaemonInfo) {
        guard other.bus == own.bus, other.language != own.language else { return }
        log.error(
            other.language > own.language
                ? "cheers and presence don't pass between these builds: upgrade this daemon"
                : "cheers and presence don't pass between these builds: upgrade the other daemon",
            [
                "host": .string(other.host), "build": .string(other.build), "busVersion": .int(other.language),
                "ownBusVersion": .int(own.language),
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
                Task { await self?.busConnected() }
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
                for sender in senders { registry?.noteSender(sender) }
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
            // The sleep is cancelled by begin() and end(). The task must not continue then.
            guard (try? await Task.sleep(for: grace)) != nil, !Task.isCancelled else { return }
            // From here on, the shutdown can't be cancelled.
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
