package import Domain
package import FoundationEssentials
import Wire

/// A task as its owner sees it, and the answer to registering and cancelling.
package struct TaskResponse: Hashable, Sendable {
    package let id: UUID
    package let device: DeviceID
    package let title: String
    package let startTime: String
    package let timeZone: String
    package let startsAt: Instant
    package let remindsAt: Instant
    package let isPaired: Bool
    /// The partner's title. `nil` without a partner or if the partner was erased.
    package let partnerTitle: String?
    /// The room's id. The app calls the room a socket.
    package let socketId: UUID
    /// The series that created the task. `nil` if a user created or moved the task.
    package var seriesId: UUID?
    /// The token for a guest. `nil` without an invitation, or if there is a partner.
    package var invitation: InvitationToken?

    package var json: [UInt8] { json(publicURL: nil) }

    /// - Parameter publicURL: The address in the link of the invitation, without a slash at the end.
    package func json(publicURL: String?) -> [UInt8] {
        var json = JSONText()
        json.object { object in
            write(to: &object)
            object.member("invitation", invitation.map { (publicURL ?? "") + $0.path })
        }
        return json.bytes
    }

    func write(to object: inout JSONText) {
        object.member("id", id.text)
        object.member("deviceId", device.text)
        object.member("title", title)
        object.member("startTime", startTime)
        object.member("timeZone", timeZone)
        object.member("startsAt", startsAt.description)
        object.member("remindsAt", remindsAt.description)
        object.member("isPaired", isPaired)
        object.member("partnerTitle", partnerTitle)
        object.member("socketId", socketId.text)
        object.member("seriesId", seriesId?.text)
    }
}

/// The outcome of `POST /task`.
package enum RegistrationOutcome: Hashable, Sendable {
    /// Status `201`.
    case created(TaskResponse, ScheduleChange)
    /// Status `200`: the request was repeated, and nothing changed.
    case repeated(TaskResponse)
    /// Status `200`: the title changed.
    case retitled(TaskResponse, ScheduleChange)
    case refused(RequestError)
}

/// The outcome of cancelling.
package enum CancellationOutcome: Hashable, Sendable {
    /// Status `200`: the task as it was before.
    case cancelled(TaskResponse, ScheduleChange)
    case refused(RequestError)
}

/// The days that a registration or cancellation has changed, for `event: schedule` on the streams.
package struct ScheduleChange: Hashable, Sendable {
    package let startsAt: Instant
    /// The devices of the task and its partner.
    package let devices: [DeviceID]
    /// Whether other users can join the slot from now on. `nil` if that hasn't changed. Any change concerns every
    /// device without a task in the slot.
    package let slotOpened: Bool?

    package init(startsAt: Instant, devices: [DeviceID], slotOpened: Bool?) {
        self.startsAt = startsAt
        self.devices = devices
        self.slotOpened = slotOpened
    }
}
