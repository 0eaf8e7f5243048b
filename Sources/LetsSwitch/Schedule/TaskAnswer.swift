package import Domain
package import FoundationEssentials
import Wire

/// A task as its owner sees it: the answer to registering and cancelling.
package struct TaskAnswer: Hashable, Sendable {
    package let id: UUID
    package let device: DeviceID
    package let title: String
    package let startTime: String
    package let timeZone: String
    package let startsAt: Instant
    package let remindsAt: Instant
    package let isPaired: Bool
    /// Nil without a partner, and when the partner was erased.
    package let partnerTitle: String?
    /// The room, under the app's name.
    package let socketId: UUID

    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("id", id.uuidString)
            object.member("deviceId", device.text)
            object.member("title", title)
            object.member("startTime", startTime)
            object.member("timeZone", timeZone)
            object.member("startsAt", startsAt.description)
            object.member("remindsAt", remindsAt.description)
            object.member("isPaired", isPaired)
            object.member("partnerTitle", partnerTitle)
            object.member("socketId", socketId.uuidString)
        }
        return json.bytes
    }
}
