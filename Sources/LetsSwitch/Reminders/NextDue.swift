/// When the scheduler has to look again. Epoch seconds, by the database's clock.
package struct NextDue: Hashable, Sendable {
    /// The earliest task to claim; nil when there is none.
    package let due: Double?
    /// The earliest reminder to give up, unless it is delivered by then; nil when there is none.
    package let expiry: Double?
    package let now: Double
}
