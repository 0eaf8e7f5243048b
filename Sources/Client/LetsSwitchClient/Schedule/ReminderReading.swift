/// A reader of reminders; the stream is left when nobody holds it.
final class ReminderReading: Sendable {
    private let session: LinkSession

    /// - Parameter requests: Of the device whose reminders they are.
    init(_ requests: DeviceRequests) {
        session = LinkSession(requests.reconnect, silence: .seconds(45)) { lastEventID throws(ClientError) in
            var request = ClientRequest(target: "/reminders?\(requests.identity)", fields: requests.fields)
            request.fields.append(ClientField("accept", "text/event-stream"))
            if let lastEventID { request.fields.append(ClientField("last-event-id", lastEventID)) }
            return try await requests.transport.eventStream(request)
        }
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
