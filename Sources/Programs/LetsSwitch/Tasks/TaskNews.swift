import Domain
import LiveSchedule
import Observability
import Scheduling

/// Tells of what became of promises: the metrics, the scheduler, the webhook, those whose day it is, and the log.
struct TaskNews: Sendable {
    let changes: ScheduleChanges
    let metrics: SchedulingMetrics
    let log: Log
    /// Told when a task is due that has just been registered or moved; epoch seconds.
    let due: @Sendable (Double) async -> Void
    /// Called when an event was written: the webhook may be told of it.
    let eventWritten: @Sendable () -> Void

    /// A promise was to be made. That a retitled one has a partner now is for the caller to count.
    ///
    /// - Returns: The task, and whether there is a new one.
    /// - Throws: The refusal.
    func registered(_ outcome: RegistrationOutcome) async throws(RequestError) -> (task: TaskResponse, isNew: Bool) {
        switch outcome {
        case .created(let task, let change):
            metrics.tasks.add(.registered)
            if task.isPaired { metrics.pairs.add() }
            await due(Double(task.remindsAt.seconds))
            eventWritten()
            await changes.publish(change)
            log.info("task registered", describe(task))
            return (task, true)
        case .repeated(let task):
            metrics.tasks.add(.repeated)
            return (task, false)
        case .retitled(let task, let change):
            metrics.tasks.add(.retitled)
            eventWritten()
            await changes.publish(change)
            log.info("title of a task changed", describe(task))
            return (task, false)
        case .refused(let error): throw refused(error)
        }
    }

    /// Whoever was counted on was not to come, or at another time. Throws the refusal.
    func parted(
        _ outcome: PartingOutcome, as done: SchedulingMetrics.TaskOutcome
    ) async throws(RequestError) -> TaskResponse {
        switch outcome {
        // Whose day has changed, every daemon is told with the commit.
        case .done(let task, _, let newMatches):
            metrics.tasks.add(done)
            metrics.pairs.add(newMatches)
            if done == .moved { await due(Double(task.remindsAt.seconds)) }
            eventWritten()
            log.info("task \(done.rawValue)", describe(task))
            return task
        case .unchanged(let task):
            metrics.tasks.add(.repeated)
            return task
        case .refused(let error): throw refused(error)
        }
    }

    /// A promise that nobody counts on was to be taken back. Throws the refusal.
    func cancelled(_ outcome: CancellationOutcome) async throws(RequestError) -> TaskResponse {
        switch outcome {
        case .cancelled(let task, let change):
            metrics.tasks.add(.cancelled)
            eventWritten()
            await changes.publish(change)
            log.info("task cancelled", describe(task))
            return task
        case .refused(let error): throw refused(error)
        }
    }

    private func refused(_ error: RequestError) -> RequestError {
        metrics.tasks.add(.refused)
        return error
    }

    private func describe(_ task: TaskResponse) -> Log.Values {
        [
            "taskId": .string(task.id.text), "device": .device(task.device),
            "startsAt": .string("\(task.startsAt)"), "paired": .bool(task.isPaired),
        ]
    }

    // MARK: Of series

    /// What became of the promises of series, as of those that are made by hand.
    func promised(_ promises: SeriesPromises) async {
        guard !promises.isEmpty else { return }
        metrics.tasks.add(.registered, promises.made.count)
        metrics.tasks.add(.retitled, promises.retitled)
        metrics.tasks.add(.cancelled, promises.cancelled)
        metrics.tasks.add(.moved, promises.moved.count)
        metrics.pairs.add(promises.newMatches)
        if let first = (promises.made + promises.moved).map(\.remindsAt.seconds).min() {
            await due(Double(first))
        }
        eventWritten()
        for change in promises.changes { await changes.publish(change) }
    }

    /// With its series, a promise was taken back that somebody counted on.
    func left(newMatches: Int) {
        metrics.tasks.add(.left)
        metrics.pairs.add(newMatches)
        eventWritten()
    }
}
