#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A task: a device's promise to start something at an instant.
///
/// ```swift
/// let promise = try await client.promise("History", at: nine, timeZone: "Europe/London")
/// if let partner = promise.partnerTitle { print("your partner starts \(partner)") }
/// ```
public struct TaskPromise: Sendable, Hashable {
    /// The task's id: `promise.id`
    public let id: UUID
    /// The title: `promise.title`
    public let title: String
    /// The start: `promise.startsAt > .now`
    public let startsAt: Date
    /// The time at which the reminder is sent and the room opens: `promise.remindsAt`
    public let remindsAt: Date
    /// The start by the wall clock: `promise.startTime` is `"09:00"`
    public let startTime: String
    /// The IANA name of the wall clock's time zone: `promise.timeZone`
    public let timeZone: String
    /// Whether the task has a partner: `if promise.isPaired { … }`
    public let isPaired: Bool
    /// The partner's title, or `nil` without a partner: `promise.partnerTitle`
    public let partnerTitle: String?
    /// The room of the two partners: `client.room(promise.roomID)`
    public let roomID: UUID
    /// The invitation link, while the task waits for a guest. It is only a path if the server has no public address:
    /// `promise.invitation` is `"https://switch.example.org/#invitation/…"`
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
