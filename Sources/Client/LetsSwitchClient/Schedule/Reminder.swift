#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A reminder that a task is about to start.
///
/// ```swift
/// for try await reminder in client.reminders {
///     print(reminder.title, reminder.partnerTitle ?? "no partner")
/// }
/// ```
public struct Reminder: Sendable, Hashable {
    /// The reminder's id. A reminder may arrive twice, with the same id: `seen.insert(reminder.id)`
    public let id: UUID
    /// The task's id: `reminder.taskID == task.id`
    public let taskID: UUID
    /// The task's title: `reminder.title`
    public let title: String
    /// The start: `reminder.startsAt`
    public let startsAt: Date
    /// The start by the wall clock: `reminder.startTime` is `"09:00"`
    public let startTime: String
    /// The room, which is open now, or `nil` without a partner: `reminder.roomID.map(client.room)`
    public let roomID: UUID?
    /// The partner's title, or `nil` without a partner: `reminder.partnerTitle`
    public let partnerTitle: String?
    /// The JSON that the server sent.
    package let source: String

    private struct Body: Decodable {
        let id: UUID
        let taskId: UUID
        let title: String
        let startsAt: Date
        let startTime: String
        let roomId: UUID?
        let partnerTask: String?
    }

    init(_ text: String) throws(ClientError) {
        guard let body = try? WireDate.decoder.decode(Body.self, from: Data(text.utf8)) else {
            throw .garbled("it has no reminder")
        }
        id = body.id
        taskID = body.taskId
        title = body.title
        startsAt = body.startsAt
        startTime = body.startTime
        roomID = body.roomId
        partnerTitle = body.partnerTask
        source = text
    }
}
