#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One device's way to a server: promises, reminders, rooms.
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
    private let transport: any Transport
    private let deviceID: String
    private let fields: [ClientField]
    private let reconnect: ReconnectPolicy

    /// A client for this device; nothing is sent yet.
    ///
    /// ```swift
    /// let client = LetsSwitchClient(server, deviceID: "ada-7c1f")
    /// ```
    ///
    /// - Parameters:
    ///   - deviceID: Who this is, in 128 characters at most. Whoever knows it can do what this device can.
    ///   - ticket: What proves it, where the server wants tickets.
    ///   - reconnect: For rooms and reminders. Other requests are sent once.
    public convenience init(
        _ server: ServerAddress, deviceID: String, ticket: String? = nil, reconnect: ReconnectPolicy = .default
    ) {
        self.init(systemTransport(to: server), deviceID: deviceID, ticket: ticket, reconnect: reconnect)
    }

    init(
        _ transport: any Transport, deviceID: String, ticket: String? = nil, reconnect: ReconnectPolicy = .default
    ) {
        self.transport = transport
        self.deviceID = deviceID
        self.reconnect = reconnect
        fields = ticket.map { [ClientField("authorization", "Bearer \($0)")] } ?? []
    }

    // MARK: Tasks

    /// Promises to start something at an instant, to the second. Promising the same again is harmless, with another title it
    /// changes that.
    ///
    /// ```swift
    /// let promise = try await client.promise("History", at: nine, timeZone: "Europe/London")
    /// ```
    ///
    /// - Parameter timeZone: An IANA name, in which the server shows the time.
    /// - Throws: ``ClientError``, such as `registration_closed` in a ``ClientError/refused(_:)``.
    public func promise(_ title: String, at start: Date, timeZone: String) async throws -> TaskPromise {
        try await promise(title, at: .instant(WireDate.text(start)), timeZone: timeZone)
    }

    /// The same for those who have the time as text.
    package func promise(_ title: String, at time: WrittenTime, timeZone: String) async throws -> TaskPromise {
        try await post("/task", time.members(timeZone).merging(["title": title]) { $1 })
    }

    /// Takes a promise back; once it has a partner, the server refuses.
    ///
    /// ```swift
    /// try await client.cancel(promise)
    /// ```
    public func cancel(_ promise: TaskPromise) async throws {
        _ = try await cancel(taskID: promise.id.uuidString)
    }

    /// The same by its id.
    package func cancel(taskID: String) async throws -> TaskPromise {
        let target = "/task/\(escaped(taskID))?deviceId=\(escaped(deviceID))"
        let request = ClientRequest(method: "DELETE", target: target, fields: fields)
        return try TaskPromise(try await answer(to: request))
    }

    /// The same by its time.
    package func cancel(at time: WrittenTime, timeZone: String) async throws -> TaskPromise {
        try await post("/task/delete", time.members(timeZone))
    }

    /// Throws ``ClientError/unreachable(_:)`` or ``ClientError/untrusted(_:)`` when nobody answers there.
    package func checkReachability() async throws {
        _ = try await transport.exchange(ClientRequest(target: "/healthz"))
    }

    private func post(_ target: String, _ members: [String: String]) async throws -> TaskPromise {
        let members = members.merging(["deviceId": deviceID]) { $1 }
        let body = try Array(JSONEncoder().encode(members))
        let type = ClientField("content-type", "application/json")
        let request = ClientRequest(method: "POST", target: target, fields: fields + [type], body: body)
        return try TaskPromise(try await answer(to: request))
    }

    private func answer(to request: ClientRequest) async throws(ClientError) -> [UInt8] {
        let response = try await transport.exchange(request)
        guard (200...299).contains(response.status) else { throw .refused(ServerRefusal(response)) }
        return response.body
    }

    // MARK: Streams

    /// This device's reminders, from those on whose task hasn't started yet. A lost connection is made again, and nothing is
    /// missed. Each stream is one of its own; it ends when its task is cancelled.
    ///
    /// ```swift
    /// for try await reminder in client.reminders { print(reminder.title) }
    /// ```
    public var reminders: AsyncThrowingStream<Reminder, any Error> {
        let (transport, fields) = (transport, fields)
        let target = "/reminders?deviceId=\(escaped(deviceID))"
        let session = LinkSession(reconnect, silence: .seconds(45)) { lastEventID throws(ClientError) in
            var request = ClientRequest(target: target, fields: fields)
            request.fields.append(ClientField("accept", "text/event-stream"))
            if let lastEventID { request.fields.append(ClientField("last-event-id", lastEventID)) }
            return try await transport.eventStream(request)
        }
        let reading = ReminderReading(session)
        return AsyncThrowingStream { try await reading.next() }
    }

    /// A connection to the server's channels, one of its own each time; it lasts as long as somebody holds it or a subscription.
    ///
    /// ```swift
    /// let notifications = await client.cable.subscribe("NotificationsChannel")
    /// ```
    public var cable: CableClient {
        // A ticket says who this is by itself.
        let query = fields.isEmpty ? "?deviceId=\(escaped(deviceID))" : ""
        return CableClient(transport, path: "/cable\(query)", fields: fields, reconnect: reconnect)
    }

    /// A match's room, which isn't entered yet.
    ///
    /// ```swift
    /// let room = client.room(promise.roomID)
    /// ```
    public func room(_ id: UUID) -> Room {
        let socket = WebSocketClient<Room.Incoming, Room.Outgoing>(
            transport, path: "/socket?id=\(id.uuidString)", fields: fields, reconnect: reconnect)
        return Room(id, socket)
    }
}
