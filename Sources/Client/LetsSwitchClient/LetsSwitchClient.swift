#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A client of a server for one device: tasks, reminders, rooms, questions and conversations.
///
/// ```swift
/// let client = LetsSwitchClient(try ServerAddress("http://127.0.0.1:8080"), deviceID: "ada-7c1f")
/// let task = try await client.register("History", at: .now + 600, timeZone: "Europe/London")
/// for try await reminder in client.reminders where reminder.taskID == task.id {
///     guard let room = reminder.roomID.map(client.room) else { break }
///     try await room.cheer()
/// }
/// ```
public final class LetsSwitchClient: Sendable {
    let requests: DeviceRequests

    /// Creates a client for a device, without sending anything.
    ///
    /// ```swift
    /// let client = LetsSwitchClient(server, deviceID: "ada-7c1f")
    /// ```
    ///
    /// - Parameters:
    ///   - deviceID: The device's secret id, of at most 128 characters. Anyone who knows it can act for the device.
    ///   - ticket: The ticket that proves the device's identity, if the server requires tickets.
    ///   - reconnect: The policy for lasting connections. All other requests are sent only once.
    public convenience init(
        _ server: ServerAddress, deviceID: String, ticket: String? = nil, reconnect: ReconnectPolicy = .default
    ) {
        self.init(systemTransport(to: server), deviceID: deviceID, ticket: ticket, reconnect: reconnect)
    }

    init(
        _ transport: any Transport, deviceID: String, ticket: String? = nil, reconnect: ReconnectPolicy = .default
    ) {
        requests = DeviceRequests(
            transport: transport, deviceID: deviceID,
            fields: ticket.map { [ClientField("authorization", "Bearer \($0)")] } ?? [], reconnect: reconnect)
    }

    /// This device's reminders, beginning with those of tasks that haven't started yet. After a lost connection the
    /// client connects again and misses nothing. Each access opens a new stream, which ends when its task is cancelled.
    ///
    /// ```swift
    /// for try await reminder in client.reminders { print(reminder.title) }
    /// ```
    public var reminders: AsyncThrowingStream<Reminder, any Error> {
        let reading = ReminderReading(requests)
        return AsyncThrowingStream { try await reading.next() }
    }

    /// A client for the server's Action Cable channels. Each access creates a new client. Its connection lasts while
    /// the client or one of its subscriptions is referenced.
    ///
    /// ```swift
    /// let notifications = await client.cable.subscribe("NotificationsChannel")
    /// ```
    public var cable: CableClient {
        // A ticket identifies the device by itself.
        let query = requests.fields.isEmpty ? "?\(requests.identity)" : ""
        return CableClient(
            .cable(requests.transport, path: "/cable\(query)", fields: requests.fields, reconnect: requests.reconnect))
    }

    /// Returns the room of a match, without entering it.
    ///
    /// ```swift
    /// let room = client.room(task.roomID)
    /// ```
    public func room(_ id: UUID) -> Room { Room(id, task: nil, requests) }

    /// Returns the room of the device's own task, without entering it. In such a room, the server reports to each
    /// partner where the other partner is.
    ///
    /// ```swift
    /// let room = client.room(task.roomID, task: task.id)
    /// ```
    public func room(_ id: UUID, task: UUID) -> Room { Room(id, task: task, requests) }

    /// Returns a question session without entering it. If `session` is `nil`, this is the server's open session, if
    /// there is one.
    ///
    /// ```swift
    /// try await client.questions(session).ask("Why tea?")
    /// ```
    public func questions(_ session: UUID?) -> Questions { Questions(session, requests) }

    /// This device's conversations.
    ///
    /// ```swift
    /// let message = try await client.conversations.send("Tea?", to: ["bob"])
    /// ```
    public var conversations: Conversations { Conversations(requests) }

    /// The partners that this device prefers.
    ///
    /// ```swift
    /// try await client.preferences.add(task)
    /// ```
    public var preferences: Preferences { Preferences(requests) }

    /// Throws ``ClientError/unreachable(_:)`` or ``ClientError/untrusted(_:)`` if the server doesn't answer.
    package func checkReachability() async throws {
        try await requests.checkReachability()
    }
}
