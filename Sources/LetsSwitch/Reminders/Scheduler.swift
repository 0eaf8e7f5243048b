import FoundationEssentials
import Postgres
import Sockets
import Synchronization

/// Fires what is due: claims it in the database, opens the rooms, hands the reminders to the channels.
///
/// ```
///            ┌────────────── sleep until the earliest due instant ◄──────────────┐
/// NOTIFY ──► │ wake ─► close rooms that are over ─► claim ─► open rooms ─► deliver│
///            └───────────────────────────────────────────────────────────────────┘
/// ```
///
/// Several daemons may do this on one database: a claim is one statement there, and each task is claimed once. The others hear
/// of it by NOTIFY, and open the same rooms and reach their own streams.
actor Scheduler {
    /// Tasks claimed by one statement: the first reminders leave while the rest is being claimed.
    private static let claimLimit = 500
    /// Before the next try: after an error, and when what is due is locked by a registration in hand.
    private static let retryPause = Duration.milliseconds(250)
    private static let lockedPause = Duration.milliseconds(5)
    /// Doublings of it, while what is due stays locked.
    private static let lockedDoublings = 5
    private static let purgeInterval = Duration.seconds(3600)
    /// Between two helpings while there is more to purge: what is due goes before.
    private static let purgePause = Duration.milliseconds(50)
    /// After one that failed.
    private static let purgeRetryPause = Duration.seconds(60)
    private static let purgeLimit = 1000
    /// Devices whose reminders are asked for at once after notifications may have been missed.
    private static let devicesPerStatement = 500
    /// Batches that are fetched one by one; whoever is further behind looks at everything anew.
    private static let batchLimit = 32

    private let store: ReminderStore
    private let schedule: ScheduleStore
    private let retention: Double
    private let rooms: Rooms
    private let streams: ReminderStreams
    private let metrics: ProductMetrics
    private let log: Log
    private let claimed: @Sendable () -> Void
    private let sleeper = Sleeper()

    private var agenda = Agenda()
    /// Bits of the epoch seconds at which the scheduler will look by itself, for those who need not wake it then. Infinity while
    /// it is looking: the database may have answered already, and not know of what is told now.
    private nonisolated let nextLook = Atomic<UInt64>(Double.infinity.bitPattern)
    private var isAway = false
    private var isResynchronising = true
    private var purgeAt = MonotonicTime.now()
    /// The newest batch that rooms and streams here know, and all before it. Batches become known in their order, whoever
    /// claimed them: a reader that comes again names the last reminder it saw, and means all before it too.
    private var knownBatch = 0
    /// The newest batch that was heard of.
    private var heardBatch = 0
    /// Claims in a row that took nothing, though something was due.
    private var vainClaims = 0
    private var isStopped = false

    /// - Parameters:
    ///   - retention: Seconds after which what is past is forgotten.
    ///   - claimed: Called when this daemon has claimed something; NOTIFY says so too, unless its connection is dead.
    init(
        store: ReminderStore, schedule: ScheduleStore, retention: Double, rooms: Rooms, streams: ReminderStreams,
        metrics: ProductMetrics, log: Log, claimed: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.schedule = schedule
        self.retention = retention
        self.rooms = rooms
        self.streams = streams
        self.metrics = metrics
        self.log = log
        self.claimed = claimed
    }

    /// Works until ``stop()``.
    func run() async {
        while !isStopped {
            do {
                try await pass()
                if isAway {
                    isAway = false
                    log.info("the scheduler has the database again")
                }
                await sleeper.sleep(for: pause(at: .now()))
            } catch {
                if !isAway {
                    isAway = true
                    log.warning("the scheduler waits for the database", ["error": .string("\(error)")])
                }
                closeRooms()
                // What failed may have been done nevertheless, a claim above all; then others have to be told of it.
                isResynchronising = true
                await sleeper.sleep(for: Self.retryPause)
            }
        }
    }

    private func pause(at now: MonotonicTime) -> Duration {
        if agenda.isDue(at: now) { return Self.lockedPause * (1 << min(vainClaims, Self.lockedDoublings)) }
        return min(agenda.pause(at: now), max(.zero, purgeAt - now))
    }

    /// Ends ``run()`` after what it is doing; claimed reminders are delivered or stay in the outbox.
    func stop() async {
        isStopped = true
        await sleeper.wake()
    }

    // MARK: What wakes it

    /// A task was registered that is due at `epoch`.
    func expect(_ epoch: Double) async {
        if agenda.expect(epoch) { await sleeper.wake() }
    }

    /// A task was registered through this daemon. NOTIFY says so too; but its connection may be gone, or dead unnoticed. Costs
    /// nothing unless the task is earlier than all that is known.
    nonisolated func registered(dueAt epoch: Double) async {
        let next = Double(bitPattern: nextLook.load(ordering: .sequentiallyConsistent))
        if epoch < next { await expect(epoch) }
    }

    /// A claim was committed, by this daemon or another.
    func fired(_ batch: Int) async {
        heardBatch = max(heardBatch, batch)
        if heardBatch > knownBatch { await sleeper.wake() }
    }

    /// A peer found a room open that was not known to be: word of it is under way, or was lost.
    func found(_ room: OpenRoom) async {
        rooms.open([room.id])
        // Whoever opens a room sees to its end.
        if agenda.close(room.id, at: room.closesAt) { await sleeper.wake() }
    }

    /// Notifications may have been missed, or a clock was set: look at everything anew.
    func resynchronise() async {
        isResynchronising = true
        await sleeper.wake()
    }

    // MARK: Passes

    private func pass() async throws {
        // By the database's clock as it is now: a room that is closed too early would be found open there again.
        if agenda.hasClosings(at: .now()) { try await look() }
        closeRooms()
        if isResynchronising { try await catchUp() }
        if agenda.isDue(at: .now()) {
            try await claim()
            try await expire()
        }
        try await follow(to: heardBatch)
        try await look()
        try await purge()
    }

    private func look() async throws {
        nextLook.store(Double.infinity.bitPattern, ordering: .sequentiallyConsistent)
        agenda.willRead()
        let next = try await store.nextDue()
        agenda.read(clock: next.now, due: next.due, at: .now())
        nextLook.store((agenda.due ?? .infinity).bitPattern, ordering: .sequentiallyConsistent)
    }

    private func closeRooms() {
        let over = agenda.takeClosings(at: .now())
        guard !over.isEmpty else { return }
        rooms.close(over)
        log.info("rooms closed", ["count": .int(over.count)])
    }

    /// Claims until nothing is due. The database works on the next batch while this daemon delivers the last.
    private func claim() async throws {
        var next = try await claimNext()
        vainClaims = next == nil ? vainClaims + 1 : 0
        while let firing = next {
            async let following = claimNext()
            claimed()
            heardBatch = max(heardBatch, firing.batch)
            try await follow(to: firing.batch - 1)
            // Else it came with those before it.
            if knownBatch < firing.batch { fire(firing) }
            record(firing.reminders)
            next = try await following
        }
    }

    /// Not on the actor, so that it goes on while the actor is busy with the batch before.
    private nonisolated func claimNext() async throws -> Firing? {
        do {
            return try await store.claimDue(limit: Self.claimLimit)
        } catch let error as PostgresError {
            guard case .server = error.kind else { throw error }
            log.error(
                "what is due can't be claimed together: each task is claimed by itself", ["error": .string("\(error)")])
            return try await store.claimEach(limit: Self.claimLimit)
        }
    }

    /// Opens the rooms first, so that whoever comes because of a reminder finds its room open.
    private func fire(_ firing: Firing) {
        for room in firing.rooms { agenda.close(room.id, at: room.closesAt) }
        rooms.open(firing.rooms.map(\.id))
        streams.deliver(firing.reminders.filter { $0.state != .missed })
        // Nobody can join whoever was reminded alone.
        streams.slotsChanged(Array(firing.closedSlots))
        knownBatch = firing.batch
    }

    private func record(_ reminders: [Reminder]) {
        for reminder in reminders {
            let isMissed = reminder.state == .missed
            metrics.reminders.add(isMissed ? .missed : .fired)
            metrics.reminderLateness.observe(.seconds(reminder.lateness))
            if reminder.roomId == nil { metrics.unpaired.add() }
            log.info(
                isMissed ? "reminder missed" : "reminder",
                [
                    "taskId": .string(reminder.taskId.uuidString), "id": .string(reminder.id.uuidString),
                    "device": .device(reminder.device.text), "startsAt": .string("\(reminder.startsAt)"),
                    "paired": .bool(reminder.roomId != nil), "late_ms": .int(Int(reminder.lateness * 1000)),
                ])
        }
    }

    /// Reminders that nobody took by their start.
    private func expire() async throws {
        for missed in try await store.expire() {
            metrics.reminders.add(.missed)
            log.info(
                "reminder missed",
                ["taskId": .string(missed.taskId.uuidString), "id": .string(missed.id.uuidString)])
        }
    }

    /// Fires what others have claimed and is not known here, up to `batch`.
    private func follow(to batch: Int) async throws {
        guard batch > knownBatch else { return }
        guard batch - knownBatch <= Self.batchLimit else { return try await catchUp() }
        do {
            for firing in try await store.firings(after: knownBatch, upTo: batch) where firing.batch > knownBatch {
                fire(firing)
            }
        } catch let error as PostgresError where !error.isUnavailable {
            // What can't be read now can't be read the next time: it must not stand before what comes after it.
            log.error("claims of other daemons can't be read", ["error": .string("\(error)")])
        }
        // Not every number is a batch's, and of some nothing is left.
        knownBatch = max(knownBatch, batch)
    }

    /// What this daemon may have missed: rooms that are open, and the reminders of the devices that listen here.
    private func catchUp() async throws {
        isResynchronising = false
        // What is claimed from now on is heard of. The number may be lower than before, in a database that was restored.
        heardBatch = 0
        do {
            let newest = try await store.newestBatch()
            let open = try await store.openRooms()
            for room in open { agenda.close(room.id, at: room.closesAt) }
            rooms.open(open.map(\.id))
            var devices = Array(await streams.devices())
            while !devices.isEmpty {
                let some = devices.suffix(Self.devicesPerStatement)
                devices.removeLast(some.count)
                streams.deliver(try await store.reminders(of: some))
            }
            knownBatch = newest
            try await look()
        } catch {
            isResynchronising = true
            throw error
        }
    }

    private func purge() async throws {
        guard purgeAt <= .now() else { return }
        purgeAt = .now() + Self.purgeRetryPause
        do {
            let taken = try await schedule.purge(retention: retention, limit: Self.purgeLimit)
            purgeAt = .now() + (taken > 0 ? Self.purgePause : Self.purgeInterval)
        } catch let error as PostgresError where !error.isUnavailable {
            // It stands before nothing: what is due goes on.
            log.error("what is past can't be deleted", ["error": .string("\(error)")])
        }
    }
}
