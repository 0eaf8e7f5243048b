package import Domain

/// The slot that a client means. PostgreSQL, which knows the zones, makes an instant of it.
package enum SlotWish: Hashable, Sendable {
    case at(Instant)
    case on(DayWish, WallTime)
}
