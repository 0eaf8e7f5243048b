package import Domain

/// The outcome of leaving or moving a task.
package enum PartingOutcome: Hashable, Sendable {
    /// `200`: the task, and the changed days, which may belong to users in two slots. A cancelled task is returned as
    /// it was before.
    case done(TaskResponse, [ScheduleChange], newMatches: Int)
    /// `200`: the task already started at the requested time.
    case unchanged(TaskResponse)
    case refused(RequestError)
}
