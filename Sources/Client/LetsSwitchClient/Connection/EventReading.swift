/// Cancels the session of an event stream if the reading task is cancelled while it isn't waiting for an event. Only
/// the stream holds this object. The cancelled task releases the stream, and `deinit` cancels the session.
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
