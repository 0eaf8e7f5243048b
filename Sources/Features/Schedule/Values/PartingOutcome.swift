package import Domain

/// The outcome of leaving or moving a task.
package enum PartingOutcome: Hashable, Sendable {
    /// `200`: the task (for a cancelled one, as it was), and the changed days, which may belong to people in two slots.
    case done(TaskResponse, [ScheduleChange], newMatches: Int)
    /// `200`: the task was there already.
    case unchanged(TaskResponse)
    case refused(RequestError)
}
