/// The ways in which a reminder leaves the daemon beside its event streams; as they are called in the database and in metrics.
package enum ChannelName: String, Sendable, Hashable, CaseIterable {
    /// Apple's push notifications, for the tokens of `POST /token`.
    case apns
    /// Browsers' push services (RFC 8030).
    case webPush = "webpush"
    /// An ntfy server's topics.
    case ntfy
    /// One URL, which is told of everything.
    case webhook
}
