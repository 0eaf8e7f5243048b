/// A reader of reminders. The stream is closed when the reader is released.
final class ReminderReading: Sendable {
    private let session: LinkSession

    /// - Parameter requests: The requests of the device.
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
