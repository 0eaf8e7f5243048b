package import Access
package import ActionCable

/// Sends hints to the subscribers of `NotificationsChannel`. A hint says that something has happened that concerns the
/// device but isn't sent on this channel. Hints are neither queued nor repeated.
package protocol DeviceHints: Sendable {
    /// Sends hints until ``DeviceHintSubscription/end()`` is called on the result. Called on the loop of `transport`.
    ///
    /// - Returns: `nil` if the subscriber isn't allowed to receive hints.
    func begin(for identity: Identity, to transport: SubscriptionTransport) -> (any DeviceHintSubscription)?
}

/// The hints of one subscription. Must be used on its loop.
package protocol DeviceHintSubscription {
    func end()
}
