import Basics

/// The scheduler's work in the database. Jobs run independently. A job that fails or hangs doesn't delay the others,
/// and a failed job is tried again later.
package enum SchedulerJob: String, CaseIterable, Sendable {
    /// Claims due tasks.
    case claim
    /// Reads the database's clock and the times of the next work.
    case look
    /// Finds claims of this daemon whose answers were lost.
    case recover
    /// Reads claims of other daemons.
    case follow
    /// Reads data that this daemon may have missed: open rooms, and the reminders of devices with streams here.
    case catchUp = "catch-up"
    /// Marks undelivered reminders as missed.
    case expire
    /// Deletes past tasks.
    case purge

    private static let shortPause = Duration.milliseconds(250)

    /// The first and the longest pause after failures. Reminders depend on the first two jobs, and their tries are
    /// cheap. Nothing depends on the last job.
    var pauses: ClosedRange<Duration> {
        switch self {
        case .claim, .look: Self.shortPause...Self.shortPause
        case .recover, .follow, .catchUp, .expire: Self.shortPause ... .seconds(8)
        case .purge: .seconds(60) ... .seconds(60)
        }
    }

    /// The pauses between tries. They aren't random, because there are few daemons, and due tasks wait for the jobs.
    var backoff: Backoff { Backoff(minimum: pauses.lowerBound, maximum: pauses.upperBound, jitter: 0) }
}

/// The state of a job.
///
/// ```
/// ready ──► running ──► ready
///   ▲          └──► paused ──┐      the job failed, or there was nothing to do
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

    /// Returns the time at which the job can start. Returns `nil` while it runs, because its end depends on the
    /// database.
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
