/// A reader of reminders; the stream is left when nobody holds it.
final class ReminderReading: Sendable {
    private let session: LinkSession

    init(_ session: LinkSession) {
        self.session = session
    }

    deinit {
        let session = session
        Task { await session.cancel(with: .goingAway) }
    }

    func next() async throws -> Reminder? {
        while let event = try await session.next() {
            if case .received(.event("reminder", let data, _)) = event { return try Reminder(data) }
        }
        return nil
    }
}
