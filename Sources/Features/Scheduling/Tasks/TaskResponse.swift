package import Domain
package import FoundationEssentials
import Wire

/// A task as its owner sees it: the answer to registering and cancelling.
package struct TaskResponse: Hashable, Sendable {
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
    /// The series that has made it; nil when it was made, or moved, by hand.
    package var seriesId: UUID?
    /// By which somebody may become the partner; nil when that wasn't asked for, or there is a partner.
    package var invitation: InvitationToken?

    package var json: [UInt8] { json(publicURL: nil) }

    /// - Parameter publicURL: Where the link of its invitation leads, without a slash at its end.
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

/// What became of `POST /task`.
package enum RegistrationOutcome: Hashable, Sendable {
    /// `201`.
    case created(TaskResponse, ScheduleChange)
    /// `200`: an identical repeat, nothing changed.
    case repeated(TaskResponse)
    /// `200`: the title changed.
    case retitled(TaskResponse, ScheduleChange)
    case refused(RequestError)
}

/// What became of cancelling.
package enum CancellationOutcome: Hashable, Sendable {
    /// `200`, with the task as it was.
    case cancelled(TaskResponse, ScheduleChange)
    case refused(RequestError)
}

/// Whose day a registration or cancellation has changed: for `event: schedule` on the streams.
package struct ScheduleChange: Hashable, Sendable {
    package let startsAt: Instant
    /// The task's own device, and its partner's.
    package let devices: [DeviceID]
    /// Whether others can join the slot from now on; nil when that is as it was. A change concerns every device that
    /// has no task of its own there.
    package let slotOpened: Bool?

    package init(startsAt: Instant, devices: [DeviceID], slotOpened: Bool?) {
        self.startsAt = startsAt
        self.devices = devices
        self.slotOpened = slotOpened
    }
}
