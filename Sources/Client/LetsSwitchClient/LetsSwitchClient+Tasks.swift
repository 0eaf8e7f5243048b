#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Requests about tasks.
extension LetsSwitchClient {
    /// Registers a task that starts at an instant, to the second. Registering the task again has no effect, except that
    /// a different title replaces the old one.
    ///
    /// ```swift
    /// let task = try await client.register("History", at: nine, timeZone: "Europe/London")
    /// ```
    ///
    /// - Parameters:
    ///   - timeZone: The IANA name of the time zone in which the server shows the time.
    ///   - isInviting: Whether the task waits for a guest with its ``RegisteredTask/invitation``. Shortly before the
    ///     start, the server may match it with any other waiting task.
    /// - Throws: ``ClientError``, such as `registration_closed` in a ``ClientError/refused(_:)``.
    public func register(
        _ title: String, at start: Date, timeZone: String, isInviting: Bool = false
    ) async throws -> RegisteredTask {
        try await register(title, at: .instant(WireDate.text(start)), timeZone: timeZone, isInviting: isInviting)
    }

    /// Registers a task at a time that is given as text.
    package func register(
        _ title: String, at time: WrittenTime, timeZone: String, isInviting: Bool = false
    ) async throws -> RegisteredTask {
        let texts = time.members(timeZone).merging(["title": title]) { $1 }
        return try await task("/task", TaskBody(texts: texts, isInviting: isInviting))
    }

    /// Accepts an invitation. The host becomes the partner, even if other people wait for the same start.
    ///
    /// ```swift
    /// let task = try await client.accept("https://switch.example.org/#invitation/…", "Art")
    /// ```
    ///
    /// - Parameters:
    ///   - invitation: The link, or the part after its last slash.
    ///   - timeZone: An IANA name, or `nil` for the host's time zone.
    /// - Throws: ``ClientError``, such as `invitation_used` in a ``ClientError/refused(_:)``.
    public func accept(_ invitation: String, _ title: String, timeZone: String? = nil) async throws -> RegisteredTask {
        guard let token = invitation.split(separator: "/").last, token.utf8.count == 32 else {
            throw ClientError.invalidValue("an invitation without its 32-character secret")
        }
        var body = TaskBody(texts: ["title": title])
        body.texts["timeZone"] = timeZone
        return try await task("/invitations/\(escaped(String(token)))", body)
    }

    /// Cancels a task. The server refuses if the task has a partner.
    ///
    /// ```swift
    /// try await client.cancel(task)
    /// ```
    public func cancel(_ task: RegisteredTask) async throws {
        _ = try await cancel(taskID: task.id.uuidString)
    }

    /// Cancels a task even if it has a partner. The server notifies the partner. The server accepts this request until
    /// some minutes after the start.
    ///
    /// ```swift
    /// try await client.leave(task)
    /// ```
    public func leave(_ task: RegisteredTask) async throws {
        _ = try await leave(taskID: task.id.uuidString)
    }

    /// Records that the user has started. This is possible after the start. Repeating the request has no effect.
    ///
    /// ```swift
    /// try await client.markStarted(task)
    /// ```
    ///
    /// - Throws: ``ClientError``, such as `not_started` in a ``ClientError/refused(_:)`` before the start.
    public func markStarted(_ task: RegisteredTask) async throws {
        _ = try await markStarted(taskID: task.id)
    }

    /// Records that the user has started the task with this id.
    package func markStarted(taskID: UUID) async throws -> RegisteredTask {
        try await task("/task/\(taskID.uuidString)/started", TaskBody(texts: [:]))
    }

    /// Cancels the task with this id even if it has a partner, like ``leave(_:)``.
    package func leave(taskID: String) async throws -> RegisteredTask {
        try RegisteredTask(try await requests.delete("/task/\(escaped(taskID))?\(requests.identity)&leave=true"))
    }

    /// Cancels the task with this id, like ``cancel(_:)``.
    package func cancel(taskID: String) async throws -> RegisteredTask {
        try RegisteredTask(try await requests.delete("/task/\(escaped(taskID))?\(requests.identity)"))
    }

    /// Cancels the task that starts at this time.
    package func cancel(at time: WrittenTime, timeZone: String) async throws -> RegisteredTask {
        try await task("/task/delete", TaskBody(texts: time.members(timeZone)))
    }

    /// Returns this device's task with this key, if the task has a room. Searches the current day in UTC, then the next
    /// day and the day before. Returns `nil` if none of these days has the task.
    package func task(_ key: RoomTask.Key, now: Date = .now) async throws -> RoomTask? {
        let day = 86_400.0
        let today = (now.timeIntervalSince1970 / day).rounded(.down) * day
        // The requests ask for days in UTC, which has no clock changes. The first request asks for the most likely day.
        for start in [0, 1, -1].map({ Date(timeIntervalSince1970: today + $0 * day) }) {
            let date = WireDate.text(start).prefix(10)
            let answer = try await requests.get("/schedule?\(requests.identity)&date=\(date)&timeZone=UTC")
            if let task = RoomTask(key, answer, beginning: start) { return task }
        }
        return nil
    }

    private func task(_ target: String, _ body: TaskBody) async throws -> RegisteredTask {
        var body = body
        body.texts["deviceId"] = requests.deviceID
        return try RegisteredTask(try await requests.post(target, body))
    }
}
