package import Foundation

/// The answer to `POST /task`.
package struct RegisteredTask: Decodable, Equatable {
    package let id: UUID
    package let deviceId: String
    package let title: String
    package let startTime: String
    package let timeZone: String
    package let startsAt: Date
    package let remindsAt: Date
    package let isPaired: Bool
    package let partnerTitle: String?
    package let socketId: UUID
}

/// A reminder's `data`.
package struct ReceivedReminder: Decodable, Equatable {
    package let type: String
    package let id: UUID
    package let taskId: UUID
    package let title: String
    package let startsAt: Date
    package let startTime: String
    package let timeZone: String
    package let roomId: UUID?
    package let partnerTask: String?
}
