import Basics
package import Observability
package import Postgres
package import Rooms

/// Says that this daemon lives, every five seconds, and knows which others do.
///
/// One statement does both: it counts on in our row, and returns all (``DaemonRoster`` judges them). Who comes and who ends notifies
/// ``DaemonStore/channel``; ``lookAgain(of:)`` then looks at once, so that two daemons know of each other within moments. While the
/// database is away, nobody is declared gone.
package actor DaemonRegistry: Service {
    /// What the registry tells, one after the other, each time awaited before it goes on.
    package enum News: Sendable, Equatable {
        /// These others are alive, now that somebody has come or gone.
        case others([DaemonInfo])
        /// They had given us up, since we stood still for too long, and have forgotten all that we told them; or it looks so.
        case forgotten
    }

    /// After an attempt that failed.
    private static let retries = Backoff(minimum: .milliseconds(250), maximum: .seconds(1))
    /// Between two looks at least, however much news comes.
    private static let shortestPause = Duration.milliseconds(100)

    private let own: DaemonInfo
    private let store: DaemonStore
    private let bus: @Sendable () -> BusStanding
    private let log: Log
    private let tell: @Sendable (News) async -> Void
    private let timing: DaemonTiming
    private let timer = WakeableTimer()
    private let heard = Locked<Set<DaemonID>>([])
    private var roster: DaemonRoster
    private var told: [DaemonInfo] = []
    /// Ends with the first look, or a few later, if that one leaves doubts.
    private let looking = AsyncStream<Void>.makeStream()
    /// Until then. Each but the first is soon after the one before.
    private var firstLooksLeft: Int
    /// Our row's, when we last saw it; 0 before the first beat.
    private var ownBeats = 0
    /// Rows of others were removed, and the people of those are still to be taken out of their rooms. At first perhaps: whoever removed
    /// some may have ended before it had done that.
    private var hasPresenceToClose = true
    private var work: Task<Void, Never>?
    private var isStopping = false

    /// - Parameters:
    ///   - own: What the others are told of this daemon.
    ///   - database: Its pool for what isn't urgent. The schema must be ready when ``run()`` is called.
    ///   - bus: How the bus is, which goes with each beat. Any thread; must not block.
    ///   - tell: Called from the registry, and awaited: it must return soon.
    package init(
        _ own: DaemonInfo, bus: @escaping @Sendable () -> BusStanding, database: PostgresClient, log: Log,
        tell: @escaping @Sendable (News) async -> Void
    ) {
        self.init(own, bus: bus, database: database, timing: DaemonTiming(), log: log, tell: tell)
    }

    init(
        _ own: DaemonInfo, bus: @escaping @Sendable () -> BusStanding = { BusStanding() }, database: PostgresClient,
        timing: DaemonTiming, log: Log, tell: @escaping @Sendable (News) async -> Void
    ) {
        self.own = own
        self.bus = bus
        self.timing = timing
        store = DaemonStore(database: database)
        self.log = log
        self.tell = tell
        roster = DaemonRoster(own: own.id, timing: timing)
        firstLooksLeft = 1 + timing.doubtfulLooks
    }

    /// Returns once it is known who else is alive: after the first look, and what it had to tell. Rows of which that one can't say it
    /// are looked at a few times more.
    package func hasLooked() async {
        for await _ in looking.stream {}
    }

    /// The others that are alive, as far as has been told.
    package var others: [DaemonInfo] { told }

    /// A packet has come from there: whoever sends is alive. Any thread; costs next to nothing.
    package nonisolated func heard(from id: DaemonID) {
        heard.withLock { heard in
            // Far more than there are daemons: somebody makes ids up.
            if heard.count < 1_024 { heard.insert(id) }
        }
    }

    /// A notification on ``DaemonStore/channel`` has come, or some may have been missed: looks at once.
    ///
    /// - Parameter id: The notification's payload.
    package func lookAgain(of id: String? = nil) async {
        guard id != own.id.description else { return }
        await timer.wake()
    }

    // MARK: Life

    package func run() async {
        guard work == nil, !isStopping else { return }
        let work = Task { await self.beatOn() }
        self.work = work
        await work.value
    }

    /// Removes our row, so that the others know at once. It stays while it isn't written that our people have left: they take those back.
    package func stop(within limit: Duration) async {
        isStopping = true
        await timer.wake()
        guard let work else { return }
        if await !work.ends(within: limit) { work.cancel() }
    }

    private func beatOn() async {
        var retries = Self.retries
        while !isStopping {
            let begun = MonotonicTime.now()
            if await beat() {
                retries.reset()
                let pause = firstLooksLeft > 0 ? timing.doubtPause : timing.interval
                await timer.sleep(for: pause - (.now() - begun))
                // Cut short by cancelling alone, and then the loop ends.
                try? await Task.sleep(for: max(.zero, Self.shortestPause - (.now() - begun)))
            } else {
                await timer.sleep(for: retries.next(random: .random(in: 0..<1)))
            }
        }
        guard ownBeats > 0 else { return }
        // In vain when the database is away: then the others judge by our silence.
        try? await store.farewell(own.id)
    }

    private func countFirstLook() {
        firstLooksLeft = roster.hasDoubts ? max(0, firstLooksLeft - 1) : 0
        if firstLooksLeft == 0 { looking.continuation.finish() }
    }

    /// - Returns: Whether the database has answered.
    private func beat() async -> Bool {
        do {
            let gone = roster.gone
            let rows = try await store.beat(own, bus(), gone: gone)
            hasPresenceToClose = hasPresenceToClose || !gone.isEmpty
            let heard = heard.withLock { heard in
                defer { heard.removeAll(keepingCapacity: true) }
                return heard
            }
            roster.look(at: rows, heard: heard, now: .now())
            if let row = rows.first(where: { $0.info.id == own.id }) { await compare(row.beats) }
            countFirstLook()
            await closePresence()
            return true
        } catch {
            log.debug("heartbeat failed", ["error": .string("\(error)")])
            roster.failed()
            return false
        }
    }

    /// In steps, for no longer than a beat may be late; the next one goes on.
    private func closePresence() async {
        let end = MonotonicTime.now() + timing.interval / 2
        while hasPresenceToClose, !isStopping, .now() < end {
            do {
                hasPresenceToClose = try await store.closePresence()
            } catch {
                return log.debug(
                    "failed to close the attendance of people on a daemon that has ended",
                    ["error": .string("\(error)")])
            }
        }
    }

    private func compare(_ beats: Int) async {
        let wasForgotten = beats <= ownBeats
        ownBeats = beats
        if wasForgotten {
            log.warning("this daemon's row was missing in the database: other daemons may have considered it ended")
            await tell(.forgotten)
        }
        let alive = roster.alive
        guard alive != told else { return }
        report(alive)
        told = alive
        await tell(.others(alive))
    }

    private func report(_ alive: [DaemonInfo]) {
        let known = Set(told.map(\.id))
        for other in alive where !known.contains(other.id) {
            log.info(
                "another daemon is running on the database",
                [
                    "daemon": .string(other.id.description), "host": .string(other.host),
                    "build": .string(other.build), "language": .int(other.language), "bus": .string(other.bus),
                ])
            if other.bus != own.bus {
                log.warning(
                    "the daemons have different buses: cheers and presence don't pass between them",
                    ["bus": .string(own.bus), "otherBus": .string(other.bus), "host": .string(other.host)])
            }
        }
        let present = Set(alive.map(\.id))
        for other in told where !present.contains(other.id) {
            log.info(
                "a daemon has left the database",
                ["daemon": .string(other.id.description), "host": .string(other.host)])
        }
    }
}
