/// How metrics call what became of an attempt, or of a delivery without one.
package enum DeliveryResult: String, Sendable, Hashable, CaseIterable {
    case accepted, retried, paused, refused, gone
    /// Its deadline passed.
    case expired
    /// There was nobody any more to send it to: the address, or the person, was forgotten meanwhile.
    case orphaned
    /// Too much was waiting, or the channel was turned away for good.
    case dropped
}
