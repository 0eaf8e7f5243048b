/// The object that a stream of events holds. A reading task may be cancelled while it isn't waiting for an event. The
/// task then releases the stream, and this object cancels the session.
///
/// A reader that only stops reading doesn't cancel the session, because it may read or send again.
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
