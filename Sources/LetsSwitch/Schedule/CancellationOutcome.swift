package import Domain

/// What became of cancelling.
package enum CancellationOutcome: Hashable, Sendable {
    /// `200`, with the task as it was.
    case cancelled(TaskAnswer, ScheduleChange)
    case refused(RequestError)
}
