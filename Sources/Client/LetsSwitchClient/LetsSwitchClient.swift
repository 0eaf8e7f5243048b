#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One device's way to a server: promises, reminders, rooms, questions, conversations.
///
/// ```swift
/// let client = LetsSwitchClient(try ServerAddress("http://127.0.0.1:8080"), deviceID: "ada-7c1f")
/// let promise = try await client.promise("History", at: .now + 600, timeZone: "Europe/London")
/// for try await reminder in client.reminders where reminder.taskID == promise.id {
///     guard let room = reminder.roomID.map(client.room) else { break }
///     try await room.cheer()
/// }
/// ```
public final class LetsSwitchClient: Sendable {
    let requests: DeviceRequests

    /// A client for this device; nothing is sent yet.
    ///
    /// ```swift
    /// let client = LetsSwitchClient(server, deviceID: "ada-7c1f")
    /// ```
    ///
    /// - Parameters:
    ///   - deviceID: Who this is, in 128 characters at most. Whoever knows it can do what this device can.
    ///   - ticket: What proves it, where the server wants tickets.
    ///   - reconnect: For what stays connected. Other requests are sent once.
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

    /// This device's reminders, from those on whose task hasn't started yet. A lost connection is made again, and nothing is
    /// missed. Each stream is one of its own; it ends when its task is cancelled.
    ///
    /// ```swift
    /// for try await reminder in client.reminders { print(reminder.title) }
    /// ```
    public var reminders: AsyncThrowingStream<Reminder, any Error> {
        let reading = ReminderReading(requests)
        return AsyncThrowingStream { try await reading.next() }
    }

    /// A connection to the server's channels, one of its own each time; it lasts as long as somebody holds it or a subscription.
    ///
    /// ```swift
    /// let notifications = await client.cable.subscribe("NotificationsChannel")
    /// ```
    public var cable: CableClient {
        // A ticket says who this is by itself.
        let query = requests.fields.isEmpty ? "?\(requests.identity)" : ""
        return CableClient(
            .cable(requests.transport, path: "/cable\(query)", fields: requests.fields, reconnect: requests.reconnect))
    }

    /// A match's room, which isn't entered yet.
    ///
    /// ```swift
    /// let room = client.room(promise.roomID)
    /// ```
    public func room(_ id: UUID) -> Room { Room(id, task: nil, requests) }

    /// The same for whom the room is of: the server tells where the partner is, and the partner that one is there.
    ///
    /// ```swift
    /// let room = client.room(promise.roomID, task: promise.id)
    /// ```
    public func room(_ id: UUID, task: UUID) -> Room { Room(id, task: task, requests) }

    /// A session of questions, which isn't entered yet; `nil` is the one that is open to all, where there is one.
    ///
    /// ```swift
    /// try await client.questions(session).ask("Why tea?")
    /// ```
    public func questions(_ session: UUID?) -> Questions { Questions(session, requests) }

    /// This device's conversations.
    ///
    /// ```swift
    /// let message = try await client.conversations.say("Tea?", to: ["bob"])
    /// ```
    public var conversations: Conversations { Conversations(requests) }

    /// Whom this device would like to have for a partner again.
    ///
    /// ```swift
    /// try await client.preferences.add(promise)
    /// ```
    public var preferences: Preferences { Preferences(requests) }

    /// Throws ``ClientError/unreachable(_:)`` or ``ClientError/untrusted(_:)`` when nobody answers there.
    package func checkReachability() async throws {
        try await requests.checkReachability()
    }
}
