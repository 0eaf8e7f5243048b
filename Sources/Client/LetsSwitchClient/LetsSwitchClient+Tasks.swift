#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a device promises, and what becomes of it.
extension LetsSwitchClient {
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

    private func task(_ target: String, _ body: TaskBody) async throws -> TaskPromise {
        var body = body
        body.texts["deviceId"] = requests.deviceID
        return try TaskPromise(try await requests.post(target, body))
    }
}
