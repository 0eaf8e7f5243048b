#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A reminder: a task is about to start.
///
/// ```swift
/// for try await reminder in client.reminders {
///     print(reminder.title, reminder.partnerTitle ?? "alone")
/// }
/// ```
public struct Reminder: Sendable, Hashable {
    /// The reminder's own; the same one may come twice, with the same id: `seen.insert(reminder.id)`
    public let id: UUID
    /// Of which task: `reminder.taskID == promise.id`
    public let taskID: UUID
    /// What is to be started: `reminder.title`
    public let title: String
    /// When: `reminder.startsAt`
    public let startsAt: Date
    /// What the wall clock shows then: `reminder.startTime` is `"09:00"`
    public let startTime: String
    /// The room, which is open now; `nil` without a partner: `reminder.roomID.map(client.room)`
    public let roomID: UUID?
    /// What the partner starts; `nil` without one: `reminder.partnerTitle`
    public let partnerTitle: String?
    /// The server's own text.
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
            throw .garbled("no reminder")
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
