import Foundation

/// What `POST /task` answers.
struct RegisteredTask: Decodable, Equatable {
    let id: UUID
    let deviceId: String
    let title: String
    let startTime: String
    let timeZone: String
    let startsAt: Date
    let remindsAt: Date
    let isPaired: Bool
    let partnerTitle: String?
    let socketId: UUID
}

/// A reminder's `data`.
struct ReceivedReminder: Decodable, Equatable {
    let type: String
    let id: UUID
    let taskId: UUID
    let title: String
    let startsAt: Date
    let startTime: String
    let timeZone: String
    let roomId: UUID?
    let partnerTask: String?
}
