/// What a listener tells its receiver.
package enum PostgresListenerEvent: Sendable, Equatable {
    /// LISTEN is in force, at first and after every reconnection: what was notified before may have been missed, so the
    /// receiver looks for itself now.
    case listening
    case notification(channel: String, payload: String)
    /// The connection is gone, or could not be made; the listener goes on trying.
    case lost(message: String)
}
