/// When the scheduler has to look again. Epoch seconds, by the database's clock.
package struct NextDue: Hashable, Sendable {
    /// The earliest task to claim, or reminder to give up unless it is delivered by then; nil when there is none.
    package let due: Double?
    package let now: Double
}
