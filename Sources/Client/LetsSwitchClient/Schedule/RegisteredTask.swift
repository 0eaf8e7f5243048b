#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A task: something that the user has promised to start at an instant.
///
/// ```swift
/// let task = try await client.register("History", at: nine, timeZone: "Europe/London")
/// if let partner = task.partnerTitle { print("your partner starts \(partner)") }
/// ```
public struct RegisteredTask: Sendable, Hashable {
    /// The task's id: `task.id`
    public let id: UUID
    /// The title: `task.title`
    public let title: String
    /// The start: `task.startsAt > .now`
    public let startsAt: Date
    /// The time at which the reminder is sent and the room opens: `task.remindsAt`
    public let remindsAt: Date
    /// The start by the wall clock: `task.startTime` is `"09:00"`
    public let startTime: String
    /// The IANA name of the wall clock's time zone: `task.timeZone`
    public let timeZone: String
    /// Whether the task has a partner: `if task.isPaired { … }`
    public let isPaired: Bool
    /// The partner's title, or `nil` without a partner: `task.partnerTitle`
    public let partnerTitle: String?
    /// The room of the two partners: `client.room(task.roomID)`
    public let roomID: UUID
    /// The invitation link, while the task waits for a guest. The link is only a path if the server has no public
    /// address: `task.invitation` is `"https://switch.example.org/#invitation/…"`
    public let invitation: String?
    /// The JSON that the server sent.
    package let source: String
    private struct Body: Decodable {
        let id: UUID
        let title: String
        let startsAt: Date
        let remindsAt: Date
        let startTime: String
        let timeZone: String
        let isPaired: Bool?
        let partnerTitle: String?
        let socketId: UUID
        let invitation: String?
    }

    init(_ bytes: [UInt8]) throws(ClientError) {
        guard let body = try? WireDate.decoder.decode(Body.self, from: Data(bytes)) else {
            throw .garbled("it has no task")
        }
        id = body.id
        title = body.title
        startsAt = body.startsAt
        remindsAt = body.remindsAt
        startTime = body.startTime
        timeZone = body.timeZone
        isPaired = body.isPaired ?? (body.partnerTitle != nil)
        partnerTitle = body.partnerTitle
        roomID = body.socketId
        invitation = body.invitation
        source = String(decoding: bytes, as: UTF8.self)
    }
}
