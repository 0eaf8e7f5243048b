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
    private let requests: DeviceRequests

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

    // MARK: Tasks

    /// Promises to start something at an instant, to the second. Promising the same again is harmless, with another title it
    /// changes that.
    ///
    /// ```swift
    /// let promise = try await client.promise("History", at: nine, timeZone: "Europe/London")
    /// ```
    ///
    /// - Parameters:
    ///   - timeZone: An IANA name, in which the server shows the time.
    ///   - isInviting: It waits for whoever gets its ``TaskPromise/invitation``, and for nobody else until shortly before the start.
    /// - Throws: ``ClientError``, such as `registration_closed` in a ``ClientError/refused(_:)``.
    public func promise(
        _ title: String, at start: Date, timeZone: String, isInviting: Bool = false
    ) async throws -> TaskPromise {
        try await promise(title, at: .instant(WireDate.text(start)), timeZone: timeZone, isInviting: isInviting)
    }

    /// The same for those who have the time as text.
    package func promise(
        _ title: String, at time: WrittenTime, timeZone: String, isInviting: Bool = false
    ) async throws -> TaskPromise {
        let texts = time.members(timeZone).merging(["title": title]) { $1 }
        return try await task("/task", TaskBody(texts: texts, isInviting: isInviting))
    }

    /// Promises the same start as whoever has invited this device, and is the partner, whoever else waits.
    ///
    /// ```swift
    /// let promise = try await client.accept("https://switch.example.org/#invitation/…", "Art")
    /// ```
    ///
    /// - Parameters:
    ///   - invitation: The link, or what stands behind its last slash.
    ///   - timeZone: An IANA name; nil: the host's.
    /// - Throws: ``ClientError``, such as `invitation_used` in a ``ClientError/refused(_:)``.
    public func accept(_ invitation: String, _ title: String, timeZone: String? = nil) async throws -> TaskPromise {
        guard let token = invitation.split(separator: "/").last, token.utf8.count == 32 else {
            throw ClientError.invalidValue("an invitation without its secret")
        }
        var body = TaskBody(texts: ["title": title])
        body.texts["timeZone"] = timeZone
        return try await task("/invitations/\(escaped(String(token)))", body)
    }

    /// Whom this device would like to have for a partner again.
    ///
    /// ```swift
    /// try await client.preferences.add(promise)
    /// ```
    public var preferences: Preferences { Preferences(requests) }

    /// Takes a promise back; once it has a partner, the server refuses.
    ///
    /// ```swift
    /// try await client.cancel(promise)
    /// ```
    public func cancel(_ promise: TaskPromise) async throws {
        _ = try await cancel(taskID: promise.id.uuidString)
    }

    /// Takes a promise back although somebody counts on it, and lets that one know; until some minutes past the start.
    ///
    /// ```swift
    /// try await client.leave(promise)
    /// ```
    public func leave(_ promise: TaskPromise) async throws {
        _ = try await leave(taskID: promise.id.uuidString)
    }

    /// Says that this device's person has started, from the start on. Saying so again is harmless.
    ///
    /// ```swift
    /// try await client.markStarted(promise)
    /// ```
    ///
    /// - Throws: ``ClientError``, such as `not_started` in a ``ClientError/refused(_:)`` before the start.
    public func markStarted(_ promise: TaskPromise) async throws {
        _ = try await markStarted(taskID: promise.id)
    }

    /// The same by its id.
    package func markStarted(taskID: UUID) async throws -> TaskPromise {
        try await task("/task/\(taskID.uuidString)/started", TaskBody(texts: [:]))
    }

    /// The same as ``leave(_:)`` by the task's id.
    package func leave(taskID: String) async throws -> TaskPromise {
        try TaskPromise(try await requests.delete("/task/\(escaped(taskID))?\(requests.identity)&leave=true"))
    }

    /// The same as ``cancel(_:)`` by the task's id.
    package func cancel(taskID: String) async throws -> TaskPromise {
        try TaskPromise(try await requests.delete("/task/\(escaped(taskID))?\(requests.identity)"))
    }

    /// By its time.
    package func cancel(at time: WrittenTime, timeZone: String) async throws -> TaskPromise {
        try await task("/task/delete", TaskBody(texts: time.members(timeZone)))
    }

    /// Throws ``ClientError/unreachable(_:)`` or ``ClientError/untrusted(_:)`` when nobody answers there.
    package func checkReachability() async throws {
        _ = try await requests.transport.exchange(ClientRequest(target: "/healthz"))
    }

    private func task(_ target: String, _ body: TaskBody) async throws -> TaskPromise {
        var body = body
        body.texts["deviceId"] = requests.deviceID
        return try TaskPromise(try await requests.post(target, body))
    }

    // MARK: Streams

    /// This device's reminders, from those on whose task hasn't started yet. A lost connection is made again, and nothing is
    /// missed. Each stream is one of its own; it ends when its task is cancelled.
    ///
    /// ```swift
    /// for try await reminder in client.reminders { print(reminder.title) }
    /// ```
    public var reminders: AsyncThrowingStream<Reminder, any Error> {
        let session = LinkSession(requests.reconnect, silence: .seconds(45)) {
            [requests] lastEventID throws(ClientError) in
            var request = ClientRequest(target: "/reminders?\(requests.identity)", fields: requests.fields)
            request.fields.append(ClientField("accept", "text/event-stream"))
            if let lastEventID { request.fields.append(ClientField("last-event-id", lastEventID)) }
            return try await requests.transport.eventStream(request)
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
        let query = requests.fields.isEmpty ? "?\(requests.identity)" : ""
        return CableClient(
            requests.transport, path: "/cable\(query)", fields: requests.fields, reconnect: requests.reconnect)
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

    /// This device's task with a room that is meant, if it starts within a day of now or has just started.
    package func task(_ key: RoomTask.Key, now: Date = .now) async throws -> RoomTask? {
        let day = 86_400.0
        let today = (now.timeIntervalSince1970 / day).rounded(.down) * day
        // Of the days of UTC, which have no changed clocks, the likeliest first.
        for start in [0, 1, -1].map({ Date(timeIntervalSince1970: today + $0 * day) }) {
            let date = WireDate.text(start).prefix(10)
            let answer = try await requests.get("/schedule?\(requests.identity)&date=\(date)&timeZone=UTC")
            if let task = RoomTask(key, answer, beginning: start) { return task }
        }
        return nil
    }

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
}
