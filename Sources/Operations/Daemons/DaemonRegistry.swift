import Basics
package import Observability
package import Postgres
package import Rooms

/// Reports every five seconds that this daemon is alive, and knows the other live daemons.
///
/// One statement does both: it increments the counter of our row and returns all rows, which ``DaemonRoster`` judges. A
/// daemon that starts or ends notifies ``DaemonStore/channel``. ``lookAgain(of:)`` then reads the rows without waiting
/// for the next beat, so daemons know each other within moments. While the database is unavailable, no daemon counts as
/// gone.
package actor DaemonRegistry: Service {
    /// An event of the registry. Events are delivered one after the other, and each delivery is awaited.
    package enum News: Sendable, Equatable {
        /// The other live daemons, after a change.
        case others([DaemonInfo])
        /// This daemon paused for so long that the other daemons considered it ended. They have removed its state, or
        /// may have removed it.
        case removed
    }

    /// The pauses after failed attempts.
    private static let retries = Backoff(minimum: .milliseconds(250), maximum: .seconds(1))
    /// The minimum time between two reads of the registry, however many notifications arrive.
    private static let shortestPause = Duration.milliseconds(100)

    private let own: DaemonInfo
    private let store: DaemonStore
    private let bus: @Sendable () -> BusStatus
    private let log: Log
    private let notify: @Sendable (News) async -> Void
    private let timing: DaemonTiming
    private let timer = WakeableTimer()
    private let senders = Locked<Set<DaemonID>>([])
    private var roster: DaemonRoster
    private var reported: [DaemonInfo] = []
    /// Ends after the first look, or after a few more looks if there are doubtful rows.
    private let looking = AsyncStream<Void>.makeStream()
    /// The number of looks that remain at the start. Each look but the first follows soon after the one before it.
    private var firstLooksLeft: Int
    /// The counter of our row at the last look; 0 before the first beat.
    private var ownBeats = 0
    /// Whether rows of other daemons were removed whose people must still leave their rooms. Initially `true`, because
    /// a daemon may have ended after it removed rows and before it removed the people.
    private var hasPresenceToClose = true
    private var work: Task<Void, Never>?
    private var isStopping = false

    /// - Parameters:
    /// - own: This daemon's information for the others.
    /// - database: The pool for work that isn't urgent. The schema must be ready when ``run()`` is called.
    /// - bus: Returns the state of the bus, for each beat. Any thread may call it, so it must not block.
    /// - notify: Receives events. The registry waits for it, so it must return soon.
    package init(
        _ own: DaemonInfo, bus: @escaping @Sendable () -> BusStatus, database: PostgresClient, log: Log,
        notify: @escaping @Sendable (News) async -> Void
    ) {
        self.init(own, bus: bus, database: database, timing: DaemonTiming(), log: log, notify: notify)
    }

    init(
        _ own: DaemonInfo, bus: @escaping @Sendable () -> BusStatus = { BusStatus() }, database: PostgresClient,
        timing: DaemonTiming, log: Log, notify: @escaping @Sendable (News) async -> Void
    ) {
        self.own = own
        self.bus = bus
        self.timing = timing
        store = DaemonStore(database: database)
        self.log = log
        self.notify = notify
        roster = DaemonRoster(own: own.id, timing: timing)
        firstLooksLeft = 1 + timing.doubtfulLooks
    }

    /// Returns when the other live daemons are known: after the first look and its events. If there are doubtful rows,
    /// a few more looks come first.
    package func hasLooked() async {
        for await _ in looking.stream {}
    }

    /// The other live daemons, as last reported.
    package var others: [DaemonInfo] { reported }

    /// Records that the sender of a received packet is alive. Any thread may call this method. The bus calls it for
    /// every packet, so the method must be cheap.
    package nonisolated func noteSender(_ id: DaemonID) {
        senders.withLock { senders in
            // More ids can't be real, because there are never that many daemons.
            if senders.count < 1_024 { senders.insert(id) }
        }
    }

    /// Reads the daemons' rows without waiting for the next beat. Called after a notification on
    /// ``DaemonStore/channel``, or if notifications may be lost.
    ///
    /// - Parameter id: The notification's payload.
    package func lookAgain(of id: String? = nil) async {
        guard id != own.id.description else { return }
        await timer.wake()
    }

    // MARK: Life

    package func run() async {
        guard work == nil, !isStopping else { return }
        let work = Task { await self.beatUntilStopped() }
        self.work = work
        await work.value
    }

    /// Ends the work and removes our row, so that the other daemons notice the end without waiting for silence. The row
    /// stays if the departure of our people isn't stored yet. The other daemons then store it.
    package func stop(within limit: Duration) async {
        isStopping = true
        await timer.wake()
        guard let work else { return }
        if await !work.ends(within: limit) { work.cancel() }
    }

    private func beatUntilStopped() async {
        var retries = Self.retries
        while !isStopping {
            let begun = MonotonicTime.now()
            if await beat() {
                retries.reset()
                let pause = firstLooksLeft > 0 ? timing.doubtPause : timing.interval
                await timer.sleep(for: pause - (.now() - begun))
                // Only cancelling shortens this sleep. The loop ends then.
                try? await Task.sleep(for: max(.zero, Self.shortestPause - (.now() - begun)))
            } else {
                await timer.sleep(for: retries.next(random: .random(in: 0..<1)))
            }
        }
        guard ownBeats > 0 else { return }
        do {
            try await UnavailabilityRetries.run { try await store.end(own.id) }
        } catch {
            log.warning(
                "failed to delete this daemon's row: others notice its end by its silence",
                ["error": .string("\(error)")])
        }
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
            let senders = senders.withLock { senders in
                defer { senders.removeAll(keepingCapacity: true) }
                return senders
            }
            roster.look(at: rows, senders: senders, now: .now())
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

    /// Removes the presence of dead daemons in steps, for at most half of the interval between two beats. The next beat
    /// continues.
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
        let wasRemoved = beats <= ownBeats
        ownBeats = beats
        if wasRemoved {
            log.warning("this daemon's row was missing in the database: other daemons may have considered it ended")
            await notify(.removed)
        }
        let alive = roster.alive
        guard alive != reported else { return }
        report(alive)
        reported = alive
        await notify(.others(alive))
    }

    private func report(_ alive: [DaemonInfo]) {
        let known = Set(reported.map(\.id))
        for other in alive where !known.contains(other.id) {
            log.info(
                "another daemon is running on the database",
                [
                    "daemon": .string(other.id.description), "host": .string(other.host),
                    "build": .string(other.build), "busVersion": .int(other.language), "bus": .string(other.bus),
                ])
            if other.bus != own.bus {
                log.warning(
                    "the daemons have different buses: cheers and presence don't pass between them",
                    ["bus": .string(own.bus), "otherBus": .string(other.bus), "host": .string(other.host)])
            }
        }
        let present = Set(alive.map(\.id))
        for other in reported where !present.contains(other.id) {
            log.info(
                "a daemon has left the database",
                ["daemon": .string(other.id.description), "host": .string(other.host)])
        }
    }
}
