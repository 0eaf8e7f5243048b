import Basics
import FoundationEssentials
import Rooms
import Sockets

/// What the scheduler does next, and when. A value: events and time go in, actions come out; ``Scheduler`` performs them.
///
/// ```
/// claim     due ──► claim ──► claim … ──► nothing left ──► look
/// the rest  beside it, each when its time has come: look, follow, catch up, recover, expire, purge
/// ```
struct SchedulerState {
    /// Between two claims while nothing can be read of what is due.
    static let blindPause = Duration.seconds(1)
    /// For how long a claim under way is taken for the one that was heard of.
    static let answerPatience = Duration.milliseconds(100)
    /// What may be due and unclaimed for so long, or unasked for beyond the heartbeat, before ``lateness(at:)`` tells of it.
    static let grace = Duration.seconds(10)
    static let purgeInterval = Duration.seconds(3600)
    /// Between two helpings while there is more to purge.
    static let purgePause = Duration.milliseconds(50)
    /// Batches that are fetched one by one; whoever is further behind looks at everything anew.
    static let batchLimit = 32

    private var agenda = Agenda()
    private var batches = BatchOrder()
    private var lost = LostClaims()
    private var jobs = Dictionary(uniqueKeysWithValues: SchedulerJob.allCases.map { ($0, SchedulerJobState.ready) })
    /// What is to be done before anything is started.
    private var pending: [SchedulerAction] = []
    private var wantsLook = true
    private var wantsCatchUp = true
    /// The newest batch that was heard of before the catching up began.
    private var announcedBefore = 0
    /// Those that were open when the database was asked for them.
    private var roomsBefore: Set<UUID> = []
    private var lookedAt: MonotonicTime
    private var claimedAt: MonotonicTime
    private var claimStartedAt: MonotonicTime
    private var purgeAt: MonotonicTime
    /// Before the next claim when one took nothing though something was due: that is locked, by a registration in hand.
    private var locked = Backoff(minimum: .milliseconds(5), maximum: .milliseconds(160), jitter: 0)
    /// When it was last certain that nothing due was left unclaimed, or less of it.
    private var lastRound: MonotonicTime

    init(at now: MonotonicTime) {
        (lookedAt, claimedAt, claimStartedAt, purgeAt, lastRound) = (now, now, now, now, now)
    }

    /// The work begins; what was heard of before is known.
    mutating func begin(at now: MonotonicTime) {
        (claimedAt, purgeAt, lastRound) = (now, now, now)
    }

    /// Epoch seconds at which it will claim by itself, for those who need not wake it then. Infinity while it is looking: the
    /// database may have answered already, and not know of what is told now.
    var nextLook: Double { self[.look].isRunning ? .infinity : agenda.due ?? .infinity }

    /// For how long it has not got round to claiming, when that is longer than it should be.
    func lateness(at now: MonotonicTime) -> Duration? {
        let since = now - lastRound
        if since > Agenda.heartbeat + Self.grace { return since }
        guard let overdue = agenda.overdue(at: now), overdue > Self.grace, since > Self.grace else { return nil }
        return since
    }

    private subscript(job: SchedulerJob) -> SchedulerJobState {
        get { jobs[job] ?? .ready }
        set { jobs[job] = newValue }
    }

    // MARK: What happens

    mutating func handle(_ event: SchedulerEvent, at now: MonotonicTime) {
        switch event {
        case .expected(let epoch):
            _ = agenda.expect(epoch)
        case .announced(let batch):
            batches.announce(batch)
        case .found(let room):
            // Whoever opens a room sees to its end.
            agenda.close(room.id, at: room.closesAt)
        case .disturbed:
            wantsCatchUp = true
            wantsLook = true
            // The database may be back: nobody waits for a pause that was made for its absence.
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
            // What was heard of before it was asked for is among it; a number that isn't was nobody's batch.
            if batches.announced == announcedBefore { batches.correct(announced: newest) }
            release(batches.settle(newest))
        case .restored(let newest):
            batches.restart(at: newest)
            lost.restart(at: newest)
            // It may not know of them yet; their time ends them.
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
            // As far as is known.
            closeRooms(at: now)
        // What can't be read batch by batch may be found device by device.
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

    /// Those that were open before it was asked which are, and aren't among them: word of their end was lost.
    private mutating func closeRooms(missingFrom open: [OpenRoom]) {
        let over = roomsBefore.intersection(agenda.rooms).subtracting(open.map(\.id))
        roomsBefore = []
        guard !over.isEmpty else { return }
        agenda.forget(over)
        pending.append(.close(Array(over)))
    }

    // MARK: What is to be done

    /// What to do now, in this order. What is started is told by an event when it ends.
    mutating func actions(at now: MonotonicTime) -> [SchedulerAction] {
        var actions: [SchedulerAction] = []
        // First, so that the database works on the next claim while this daemon delivers the last.
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

    /// How long to sleep; an event ends it earlier.
    func pause(at now: MonotonicTime) -> Duration {
        let waits = SchedulerJob.allCases.compactMap { wait(for: $0, at: now) }
        let overdue = batches.overdueAt.map { max(.zero, $0 - now) }
        return ([Agenda.heartbeat] + waits + (overdue.map { [$0] } ?? [])).min() ?? Agenda.heartbeat
    }

    /// How long until a job is to be started; nil when it runs, or nothing asks for it.
    private func wait(for job: SchedulerJob, at now: MonotonicTime) -> Duration? {
        guard let free = self[job].freeAt(now), let wanted = wanted(job, at: now) else { return nil }
        return max(free - now, wanted)
    }

    /// How long until there is something for a job to do; nil when nothing is known of.
    private func wanted(_ job: SchedulerJob, at now: MonotonicTime) -> Duration? {
        func until(_ time: MonotonicTime) -> Duration { max(.zero, time - now) }
        switch job {
        case .claim:
            // While nobody says what is due, it is tried.
            let blind = self[.look].failures > 0 ? until(claimedAt + Self.blindPause) : nil
            return [agenda.pauses(at: now).due, blind].compactMap(\.self).min()
        case .look:
            // A room that is closed too early would be found open again: so by the clock as it is then.
            if wantsLook || !agenda.isRead { return .zero }
            return min(until(lookedAt + Agenda.heartbeat), agenda.pauses(at: now).closing ?? Agenda.heartbeat)
        case .recover: return lost.lookAt.map(until)
        case .follow:
            guard batches.gap != nil else { return nil }
            // Word of a claim comes as soon as its answer, and often sooner.
            return self[.claim].isRunning ? until(claimStartedAt + Self.answerPatience) : .zero
        case .catchUp: return wantsCatchUp ? .zero : nil
        case .expire: return agenda.pauses(at: now).expiry
        case .purge: return until(purgeAt)
        }
    }
}

/// What the scheduler is told.
enum SchedulerEvent {
    /// A task is due then; epoch seconds.
    case expected(Double)
    /// A claim was committed, by this daemon or another.
    case announced(batch: Int)
    /// A peer found a room open that was not known to be: word of it is under way, or was lost.
    case found(OpenRoom)
    /// Notifications may have been missed, or a clock was set.
    case disturbed
    /// Nil: nothing is due that nobody else holds.
    case claimed(ClaimedBatch?)
    case looked(NextDue)
    case recovered([ClaimedBatch])
    /// All that there is up to the batch.
    case followed([ClaimedBatch], upTo: Int)
    /// Streams were told of all that there was up to the batch, and rooms were opened.
    case caughtUp(newest: Int, [OpenRoom])
    /// The newest batch is one that was long past.
    case restored(newest: Int)
    case expired
    /// So many.
    case purged(Int)
    case failed(SchedulerJob, isOutcomeUnknown: Bool)
}

/// What the scheduler does. Those that name a job end with an event.
enum SchedulerAction: Equatable {
    case claim
    case look
    /// Own batches after this one, without those that are known.
    case recover(after: Int, except: Set<Int>)
    case follow(after: Int, upTo: Int)
    /// With the batch up to which this daemon has told of all.
    case catchUp(settled: Int)
    case expire
    case purge
    /// Opens the rooms and tells the streams; see ``BatchOrder/Release``.
    case fire(ClaimedBatch, settled: Int)
    /// Counts and logs an own claim.
    case record(ClaimedBatch, wasLost: Bool)
    case close([UUID])
}
