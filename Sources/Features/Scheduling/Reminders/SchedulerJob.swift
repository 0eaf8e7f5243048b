import Basics

/// What the scheduler asks of the database. Each kind goes on by itself: one that fails or hangs is tried again later, and none
/// of the others waits for it.
package enum SchedulerJob: String, CaseIterable, Sendable {
    /// Takes what is due.
    case claim
    /// Reads the clock, and when there is something to do.
    case look
    /// Finds claims of this daemon whose answer was lost.
    case recover
    /// Reads claims of other daemons.
    case follow
    /// Reads what may have been missed: rooms that are open, and the reminders of the devices that listen here.
    case catchUp = "catch-up"
    /// Gives up what nobody took.
    case expire
    /// Forgets what is past.
    case purge

    private static let shortPause = Duration.milliseconds(250)

    /// The pauses after failures: the first, and the longest. Reminders wait for the first two jobs, whose tries cost little; nobody
    /// waits for the last.
    var pauses: ClosedRange<Duration> {
        switch self {
        case .claim, .look: Self.shortPause...Self.shortPause
        case .recover, .follow, .catchUp, .expire: Self.shortPause ... .seconds(8)
        case .purge: .seconds(60) ... .seconds(60)
        }
    }

    /// The pauses between its tries. Nothing is left to chance: daemons are few, and what is due waits for them.
    var backoff: Backoff { Backoff(minimum: pauses.lowerBound, maximum: pauses.upperBound, jitter: 0) }
}

/// How a job stands.
///
/// ```
/// ready ──► running ──► ready
///   ▲          └──► paused ──┐      it failed; or there was nothing to do, and it isn't to be asked for again at once
///   └────────────────────────┘
/// ```
enum SchedulerJobState: Equatable {
    case ready
    /// With the failures in a row before it.
    case running(failures: Int)
    case paused(until: MonotonicTime, failures: Int)

    var failures: Int {
        switch self {
        case .ready: 0
        case .running(let failures), .paused(_, let failures): failures
        }
    }

    var isRunning: Bool {
        if case .running = self { true } else { false }
    }

    func isFree(at now: MonotonicTime) -> Bool {
        switch self {
        case .ready: true
        case .running: false
        case .paused(let until, _): until <= now
        }
    }

    /// When it is free, or nil while that is up to the database.
    func freeAt(_ now: MonotonicTime) -> MonotonicTime? {
        switch self {
        case .ready: now
        case .running: nil
        case .paused(let until, _): max(now, until)
        }
    }

    mutating func start() {
        self = .running(failures: failures)
    }

    /// Ends a pause.
    mutating func endPause(at now: MonotonicTime) {
        if case .paused(_, let failures) = self { self = .paused(until: now, failures: failures) }
    }

    mutating func fail(_ job: SchedulerJob, at now: MonotonicTime) {
        let failures = failures + 1
        self = .paused(until: now + job.backoff.delay(afterAttempt: failures, random: 0), failures: failures)
    }
}
