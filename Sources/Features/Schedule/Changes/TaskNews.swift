package import Domain
import Features
import Observability

/// Reports changes of tasks to the metrics, the scheduler, the webhook, the affected days, and the log.
struct TaskNews: Sendable {
    let changes: ScheduleChanges
    let metrics: ScheduleMetrics
    let log: Log
    let plan: any ReminderPlan
    let outbox: any EventOutbox

    /// Reports a registration. Doesn't count a match if a repeated request changed the title and found a partner. The
    /// caller counts it.
    ///
    /// - Returns: The task, and whether it is new.
    /// - Throws: The refusal.
    func registered(_ outcome: RegistrationOutcome) async throws(RequestError) -> (task: TaskResponse, isNew: Bool) {
        switch outcome {
        case .created(let task, let change):
            metrics.tasks.add(.registered)
            if task.isPaired { metrics.pairs.add() }
            await plan.registered(dueAt: Double(task.remindsAt.seconds))
            outbox.eventWritten()
            await changes.publish(change)
            log.info("task registered", describe(task))
            return (task, true)
        case .repeated(let task):
            metrics.tasks.add(.repeated)
            return (task, false)
        case .retitled(let task, let change):
            metrics.tasks.add(.retitled)
            outbox.eventWritten()
            await changes.publish(change)
            log.info("title of a task changed", describe(task))
            return (task, false)
        case .refused(let error): throw refused(error)
        }
    }

    /// Reports that a task with a partner was left or moved. Throws the refusal.
    func partnerChanged(
        _ outcome: PartingOutcome, as done: ScheduleMetrics.TaskOutcome
    ) async throws(RequestError) -> TaskResponse {
        switch outcome {
        // The database has already notified every daemon of the changed days in the commit.
        case .done(let task, _, let newMatches):
            metrics.tasks.add(done)
            metrics.pairs.add(newMatches)
            if done == .moved { await plan.registered(dueAt: Double(task.remindsAt.seconds)) }
            outbox.eventWritten()
            log.info("task \(done.rawValue)", describe(task))
            return task
        case .unchanged(let task):
            metrics.tasks.add(.repeated)
            return task
        case .refused(let error): throw refused(error)
        }
    }

    /// Reports that a task without a partner was cancelled. Throws the refusal.
    func cancelled(_ outcome: CancellationOutcome) async throws(RequestError) -> TaskResponse {
        switch outcome {
        case .cancelled(let task, let change):
            metrics.tasks.add(.cancelled)
            outbox.eventWritten()
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

    // MARK: Series

    /// Reports the tasks of a series in the same way as tasks that users register.
    func seriesChanged(_ tasks: SeriesTasks) async {
        guard !tasks.isEmpty else { return }
        metrics.tasks.add(.registered, tasks.made.count)
        metrics.tasks.add(.retitled, tasks.retitled)
        metrics.tasks.add(.cancelled, tasks.cancelled)
        metrics.tasks.add(.moved, tasks.moved.count)
        metrics.pairs.add(tasks.newMatches)
        if let first = (tasks.made + tasks.moved).map(\.remindsAt.seconds).min() {
            await plan.registered(dueAt: Double(first))
        }
        outbox.eventWritten()
        for change in tasks.changes { await changes.publish(change) }
    }

    /// Reports that a task with a partner was cancelled with its series.
    func left(newMatches: Int) {
        metrics.tasks.add(.left)
        metrics.pairs.add(newMatches)
        outbox.eventWritten()
    }
}

/// The times at which reminders are due.
package protocol ReminderPlan: Sendable {
    /// Reports that a task was registered or moved.
    ///
    /// - Parameter epoch: When the task's reminder is due, in epoch seconds.
    func registered(dueAt epoch: Double) async

    /// Throws the refusal of new tasks while this daemon can't send reminders.
    func checkWorking() async throws(RequestError)
}
