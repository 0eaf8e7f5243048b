import Basics
import FoundationEssentials
import Rooms
import Sockets

/// Decides the scheduler's next actions. A value type: events and time go in, actions come out, and ``Scheduler``
/// performs them.
///
/// ```
/// claim   due ──► claim ──► claim … ──► nothing left ──► look
/// others  in parallel, each at its time: look, follow, catch up, recover, expire, purge
/// ```
struct SchedulerState {
    /// The time between two claims while the next due time can't be read.
    static let claimPause = Duration.seconds(1)
    /// The time after the start of this daemon's claim during which an announced batch isn't read, because the batch
    /// may be that claim's.
    static let answerPatience = Duration.milliseconds(100)
    /// The time for which a task may be due and unclaimed, or a query overdue, before ``lateness(at:)`` reports it.
    static let grace = Duration.seconds(10)
    static let purgeInterval = Duration.seconds(3600)
    /// The time between two purges while there are more rows to delete.
    static let purgePause = Duration.milliseconds(50)
    /// The maximum number of missing batches to read one by one. If more are missing, everything is read again.
    static let batchLimit = 32

    private var agenda = Agenda()
    private var batches = BatchOrder()
    private var lost = LostClaims()
    private var jobs = Dictionary(uniqueKeysWithValues: SchedulerJob.allCases.map { ($0, SchedulerJobState.ready) })
    /// The actions to return before new jobs start.
    private var pending: [SchedulerAction] = []
    private var wantsLook = true
    private var wantsCatchUp = true
    /// The newest announced batch when catching up began.
    private var announcedBefore = 0
    /// The rooms that were open when the query for open rooms began.
    private var roomsBefore: Set<UUID> = []
    private var lookedAt: MonotonicTime
    private var claimedAt: MonotonicTime
    private var claimStartedAt: MonotonicTime
    private var purgeAt: MonotonicTime
    /// The pause before the next claim if all due tasks were locked. A running registration may lock them for a moment.
    private var locked = Backoff(minimum: .milliseconds(5), maximum: .milliseconds(160), jitter: 0)
    /// The last time at which no due task was known to be unclaimed.
    private var lastRound: MonotonicTime

    init(at now: MonotonicTime) {
        (lookedAt, claimedAt, claimStartedAt, purgeAt, lastRound) = (now, now, now, now, now)
    }

    /// Begins the work. Keeps earlier announcements.
    mutating func begin(at now: MonotonicTime) {
        (claimedAt, purgeAt, lastRound) = (now, now, now)
    }

    /// The time of the next claim without a wake-up, in epoch seconds. Only tasks that are due earlier must wake the
    /// scheduler. Infinity during a query, whose answer may miss new announcements.
    var nextLook: Double { self[.look].isRunning ? .infinity : agenda.due ?? .infinity }

    /// Returns the time for which claims have been delayed, if it is longer than normal.
    func lateness(at now: MonotonicTime) -> Duration? {
        let since = now - lastRound
        if since > Agenda.heartbeat + Self.grace { return since }
        guard let overdue = agenda.overdue(at: now), overdue > Self.grace, since > Self.grace else { return nil }
        return since
    }

    /// Whether the last claim, or the last reading of the clock, has failed.
    var isFailing: Bool { self[.claim].failures > 0 || self[.look].failures > 0 }

    /// Whether claims are late because they fail. A single failure is retried long before claims are late.
    func isBlocked(at now: MonotonicTime) -> Bool { isFailing && lateness(at: now) != nil }

    private subscript(job: SchedulerJob) -> SchedulerJobState {
        get { jobs[job] ?? .ready }
        set { jobs[job] = newValue }
    }

    // MARK: Events

    mutating func handle(_ event: SchedulerEvent, at now: MonotonicTime) {
        switch event {
        case .expected(let epoch):
            _ = agenda.expect(epoch)
        case .announced(let batch):
            batches.announce(batch)
        case .found(let room):
            // The daemon that opens a room also closes it.
            agenda.close(room.id, at: room.closesAt)
        case .disturbed:
            wantsCatchUp = true
            wantsLook = true
            // The database may be available again, so pauses after failures end.
            for job in SchedulerJob.allCases where job != .purge { self[job].endPause(at: now) }
        case .claimed(let claim):
            claimed(claim, at: now)
        case .looked(let next):
            looked(next, at: now)
        case .recovered(let claims):
            self[.recover] = .ready
            for claim in claims {
                if lost.record(claim.batch) { pending.append(.record(claim, wasLost: true)) }
                release(batches.offer(claim, at: now))
            }
            lost.looked(at: now)
        case .followed(let claims, let batch):
            self[.follow] = .ready
            release(batches.fill(claims, upTo: batch))
        case .caughtUp(let newest, let rooms):
            self[.catchUp] = .ready
            closeRooms(missingFrom: rooms)
            for room in rooms { agenda.close(room.id, at: room.closesAt) }
            // The query includes everything announced before it. An announced number that is missing in the answer
            // belongs to no batch.
            if batches.announced == announcedBefore { batches.correct(announced: newest) }
            release(batches.settle(newest))
        case .restored(let newest):
            batches.restart(at: newest)
            lost.restart(at: newest)
            // The query's answer may lack the rooms of the old database. These rooms close at their time.
            roomsBefore = []
        case .expired:
            self[.expire] = .ready
            agenda.expired()
            wantsLook = true
        case .purged(let count):
            self[.purge] = .ready
            purgeAt = now + (count > 0 ? Self.purgePause : Self.purgeInterval)
        case .failed(let job, let isOutcomeUnknown):
            failed(job, isOutcomeUnknown, at: now)
        }
    }

    private mutating func claimed(_ claim: ClaimedBatch?, at now: MonotonicTime) {
        claimedAt = now
        lastRound = now
        guard let claim else {
            wantsLook = true
            self[.claim] = .paused(until: now + locked.next(random: 0), failures: 0)
            return
        }
        self[.claim] = .ready
        locked.reset()
        release(batches.offer(claim, at: now))
        if lost.record(claim.batch) { pending.append(.record(claim, wasLost: false)) }
    }

    private mutating func looked(_ next: NextDue, at now: MonotonicTime) {
        self[.look] = .ready
        lookedAt = now
        agenda.read(clock: next.now, due: next.due, expiry: next.expiry, at: now)
        if agenda.overdue(at: now) == nil {
            lastRound = now
            locked.reset()
        }
        closeRooms(at: now)
    }

    private mutating func failed(_ job: SchedulerJob, _ isOutcomeUnknown: Bool, at now: MonotonicTime) {
        self[job].fail(job, at: now)
        switch job {
        case .claim:
            claimedAt = now
            if isOutcomeUnknown { lost.answerLost(at: now) }
        case .look:
            wantsLook = true
            // Without a reading of the clock, rooms close at the estimated time.
            closeRooms(at: now)
        // Catching up may still read the devices one by one if batches can't be read.
        case .follow, .catchUp: wantsCatchUp = true
        case .recover, .expire, .purge: break
        }
    }

    private mutating func release(_ releases: [BatchOrder.Release]) {
        for release in releases {
            for room in release.claim.rooms { agenda.close(room.id, at: room.closesAt) }
            pending.append(.fire(release.claim, settled: release.settled))
        }
    }

    private mutating func closeRooms(at now: MonotonicTime) {
        let over = agenda.takeClosings(at: now)
        if !over.isEmpty { pending.append(.close(over)) }
    }

    /// Closes rooms that were open before the query, but aren't in its answer. The notification of their closing was
    /// lost.
    private mutating func closeRooms(missingFrom open: [OpenRoom]) {
        let over = roomsBefore.intersection(agenda.rooms).subtracting(open.map(\.id))
        roomsBefore = []
        guard !over.isEmpty else { return }
        agenda.remove(over)
        pending.append(.close(Array(over)))
    }

    // MARK: Actions

    /// Returns the actions to perform now, in order. Each job reports its end with an event.
    mutating func actions(at now: MonotonicTime) -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        // The claim comes first, so that the database works on it while this daemon delivers the previous one.
        if wait(for: .claim, at: now) == .zero {
            claimStartedAt = now
            actions += start(.claim, .claim)
        }
        release(batches.releaseOverdue(at: now))
        actions += pending
        pending = []
        if wait(for: .look, at: now) == .zero {
            wantsLook = false
            agenda.willRead()
            actions += start(.look, .look)
        }
        if wait(for: .recover, at: now) == .zero {
            actions += start(.recover, .recover(after: lost.through, except: lost.recorded))
        }
        if let gap = batches.gap {
            if gap.upTo - gap.after > Self.batchLimit {
                wantsCatchUp = true
            } else if wait(for: .follow, at: now) == .zero {
                actions += start(.follow, .follow(after: gap.after, upTo: gap.upTo))
            }
        }
        if wait(for: .catchUp, at: now) == .zero {
            wantsCatchUp = false
            announcedBefore = batches.announced
            roomsBefore = agenda.rooms
            actions += start(.catchUp, .catchUp(settled: batches.settled ?? 0))
        }
        if wait(for: .expire, at: now) == .zero { actions += start(.expire, .expire) }
        if wait(for: .purge, at: now) == .zero { actions += start(.purge, .purge) }
        return actions
    }

    private mutating func start(_ job: SchedulerJob, _ action: SchedulerAction) -> [SchedulerAction] {
        self[job].start()
        return [action]
    }

    /// Returns how long to sleep. An event ends the sleep earlier.
    func pause(at now: MonotonicTime) -> Duration {
        let waits = SchedulerJob.allCases.compactMap { wait(for: $0, at: now) }
        let overdue = batches.overdueAt.map { max(.zero, $0 - now) }
        return ([Agenda.heartbeat] + waits + (overdue.map { [$0] } ?? [])).min() ?? Agenda.heartbeat
    }

    /// Returns the time until the job must start. Returns `nil` if it is running or not needed.
    private func wait(for job: SchedulerJob, at now: MonotonicTime) -> Duration? {
        guard let free = self[job].freeAt(now), let wanted = wanted(job, at: now) else { return nil }
        return max(free - now, wanted)
    }

    /// Returns the time until the job has something to do. Returns `nil` if nothing is expected.
    private func wanted(_ job: SchedulerJob, at now: MonotonicTime) -> Duration? {
        func until(_ time: MonotonicTime) -> Duration { max(.zero, time - now) }
        switch job {
        case .claim:
            // While the next due time is unknown, claims are tried at intervals.
            let attempt = self[.look].failures > 0 ? until(claimedAt + Self.claimPause) : nil
            return [agenda.pauses(at: now).due, attempt].compactMap(\.self).min()
        case .look:
            // The clock is read before a room closes. A room that closed too early would open again when a peer asks
            // for it.
            if wantsLook || !agenda.isRead { return .zero }
            return min(until(lookedAt + Agenda.heartbeat), agenda.pauses(at: now).closing ?? Agenda.heartbeat)
        case .recover: return lost.lookAt.map(until)
        case .follow:
            guard batches.gap != nil else { return nil }
            // The notification of this daemon's own claim often arrives before the claim's answer. Waiting for the
            // answer avoids reading the claim.
            return self[.claim].isRunning ? until(claimStartedAt + Self.answerPatience) : .zero
        case .catchUp: return wantsCatchUp ? .zero : nil
        case .expire: return agenda.pauses(at: now).expiry
        case .purge: return until(purgeAt)
        }
    }
}

/// The events that the scheduler handles.
enum SchedulerEvent {
    /// A task is due at this time, in epoch seconds.
    case expected(Double)
    /// A claim was committed by this or another daemon.
    case announced(batch: Int)
    /// A peer asked for an open room that was unknown here. The room's notification is late or lost.
    case found(OpenRoom)
    /// Notifications may be missing, or a clock was set.
    case disturbed
    /// The result of a claim. `nil` if other sessions hold all due tasks.
    case claimed(ClaimedBatch?)
    case looked(NextDue)
    case recovered([ClaimedBatch])
    /// All claims up to the batch were read.
    case followed([ClaimedBatch], upTo: Int)
    /// Streams have received everything up to the batch, and these rooms are open.
    case caughtUp(newest: Int, [OpenRoom])
    /// The newest batch is lower than before, so the database was restored.
    case restored(newest: Int)
    case expired
    /// The number of deleted rows.
    case purged(Int)
    case failed(SchedulerJob, isOutcomeUnknown: Bool)
}

/// The scheduler's actions. An action that starts a job ends with an event.
enum SchedulerAction: Equatable {
    case claim
    case look
    /// Read this daemon's batches after the first number, except the known ones.
    case recover(after: Int, except: Set<Int>)
    case follow(after: Int, upTo: Int)
    /// Read the reminders that this daemon may have missed. All batches up to `settled` were already published on this
    /// daemon.
    case catchUp(settled: Int)
    case expire
    case purge
    /// Open the rooms and notify the streams. See ``BatchOrder/Release``.
    case fire(ClaimedBatch, settled: Int)
    /// Count and log a claim of this daemon.
    case record(ClaimedBatch, wasLost: Bool)
    case close([UUID])
}
