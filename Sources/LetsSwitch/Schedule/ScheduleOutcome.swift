package import Domain

/// What became of asking for a day.
package enum ScheduleOutcome: Hashable, Sendable {
    case day(ScheduleAnswer)
    case refused(RequestError)
}
