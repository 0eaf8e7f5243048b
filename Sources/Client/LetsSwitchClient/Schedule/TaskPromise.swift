#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A device's promise to start something at an instant.
///
/// ```swift
/// let promise = try await client.promise("History", at: nine, timeZone: "Europe/London")
/// if let partner = promise.partnerTitle { print("somebody starts \(partner)") }
/// ```
public struct TaskPromise: Sendable, Hashable {
    /// The task's own: `promise.id`
    public let id: UUID
    /// What is to be started: `promise.title`
    public let title: String
    /// When: `promise.startsAt > .now`
    public let startsAt: Date
    /// When the reminder comes and the room opens: `promise.remindsAt`
    public let remindsAt: Date
    /// What the wall clock shows then: `promise.startTime` is `"09:00"`
    public let startTime: String
    /// The IANA name of that clock's zone: `promise.timeZone`
    public let timeZone: String
    /// Whether somebody starts at the same time: `if promise.isPaired { … }`
    public let isPaired: Bool
    /// What the partner starts; `nil` without one: `promise.partnerTitle`
    public let partnerTitle: String?
    /// The room that opens for the two: `client.room(promise.roomID)`
    public let roomID: UUID
    /// The link for whom one invites, while it waits for that one: only its path where the server knows no address of its own:
    /// `promise.invitation` is `"https://switch.example.org/#invitation/…"`
    public let invitation: String?
    /// The server's own text.
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
            throw .garbled("no task")
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
