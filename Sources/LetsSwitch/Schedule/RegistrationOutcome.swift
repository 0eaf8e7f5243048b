package import Domain

/// What became of `POST /task`.
package enum RegistrationOutcome: Hashable, Sendable {
    /// `201`.
    case created(TaskAnswer, ScheduleChange)
    /// `200`: an identical repeat, nothing changed.
    case repeated(TaskAnswer)
    /// `200`: the title changed.
    case retitled(TaskAnswer, ScheduleChange)
    case refused(RequestError)
}
