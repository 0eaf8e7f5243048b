package import Access
package import ActionCable

/// Sends hints to the subscribers of `NotificationsChannel`: something that concerns the device has happened elsewhere. Hints
/// are neither queued nor repeated.
package protocol DeviceHints: Sendable {
    /// Sends hints until the result is ended. On the loop of `transport`.
    ///
    /// - Returns: `nil` if the subscriber may not receive any.
    func begin(for identity: Identity, to transport: SubscriptionTransport) -> (any DeviceHintSubscription)?
}

/// The hints of one subscription. On its loop.
package protocol DeviceHintSubscription {
    func end()
}
