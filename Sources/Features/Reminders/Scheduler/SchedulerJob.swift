import Basics

/// The scheduler's work in the database. Jobs run independently: one that fails or hangs is tried again later, and the
/// others don't wait for it.
package enum SchedulerJob: String, CaseIterable, Sendable {
    /// Claims due tasks.
    case claim
    /// Reads the clock and the times of the next work.
    case look
    /// Finds claims of this daemon whose answers were lost.
    case recover
    /// Reads claims of other daemons.
    case follow
    /// Reads what may have been missed: open rooms, and the reminders of the devices that listen here.
    case catchUp = "catch-up"
    /// Gives up reminders that nobody accepted.
    case expire
    /// Deletes past tasks.
    case purge

    private static let shortPause = Duration.milliseconds(250)

    /// The first and the longest pause after failures. Reminders wait for the first two jobs, whose tries are cheap.
    /// Nothing waits for the last.
    var pauses: ClosedRange<Duration> {
        switch self {
        case .claim, .look: Self.shortPause...Self.shortPause
        case .recover, .follow, .catchUp, .expire: Self.shortPause ... .seconds(8)
        case .purge: .seconds(60) ... .seconds(60)
        }
    }

    /// The pauses between tries. They aren't random, because daemons are few and due tasks wait for them.
    var backoff: Backoff { Backoff(minimum: pauses.lowerBound, maximum: pauses.upperBound, jitter: 0) }
}

/// The state of a job.
///
/// ```
/// ready ──► running ──► ready
///   ▲          └──► paused ──┐      it failed, or there was nothing to do
///   └────────────────────────┘
/// ```
enum SchedulerJobState: Equatable {
    case ready
    /// Running, after this number of failures in a row.
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

    /// Returns when the job is free. Returns `nil` while that depends on the database.
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
