/// Held by a stream of events, whose task may be cancelled while it does something else than wait for the next one: the stream is
/// let go of by that task then, and the session is cancelled as if it had waited.
///
/// A reader that just stops reading cancels nothing: it may come again, or send.
final class EventReading: Sendable {
    private let session: LinkSession

    init(_ session: LinkSession) {
        self.session = session
    }

    deinit {
        guard Task.isCancelled else { return }
        let session = session
        Task { await session.cancel(with: .goingAway) }
    }

    func next() async throws -> LinkSession.Event? { try await session.next() }
}
