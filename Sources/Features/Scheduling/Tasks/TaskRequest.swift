package import Domain
package import FoundationEssentials

/// `POST /task`.
package struct TaskRequest: Hashable, Sendable {
    package let slot: SlotRequest
    package let title: String
    /// Whether it waits for somebody who is given its link.
    package let invites: Bool

    package init(slot: SlotRequest, title: String, invites: Bool = false) {
        self.slot = slot
        self.title = title
        self.invites = invites
    }

    /// Throws `invalid_request`, naming the member.
    package static func decode(_ body: [UInt8], zones: TimeZoneNames) throws(RequestError) -> TaskRequest {
        let request = try RequestFields.decode(TaskRequest.self, from: body)
        try request.slot.checkZone(zones)
        return request
    }
}

extension TaskRequest: Decodable {
    package init(from decoder: any Decoder) throws {
        let members = try RequestFields(decoder)
        slot = try SlotRequest(members)
        title = try members.title()
        invites = try members.optionalBoolean("invite") ?? false
    }
}

/// A task of the device that asks.
package struct OwnTask: Hashable, Sendable {
    package let id: UUID
    package let device: DeviceID

    package init(id: UUID, device: DeviceID) {
        self.id = id
        self.device = device
    }

    /// From path and query; the id in either case. Throws `invalid_request`, naming the member.
    package init(id: String, deviceId: String?) throws(RequestError) {
        guard let id = UUID(text: id) else { throw .invalid("id", "must be the UUID of a task") }
        self.init(id: id, device: try DeviceID(deviceId))
    }
}

/// `POST /task/delete`, `DELETE /task/{id}?deviceId=`.
package enum CancelRequest: Hashable, Sendable {
    case slot(SlotRequest)
    case task(OwnTask)

    /// Throws `invalid_request`, naming the member. What doesn't tell device and slot isn't looked at.
    package static func decode(_ body: [UInt8], zones: TimeZoneNames) throws(RequestError) -> CancelRequest {
        let request = try RequestFields.decode(Body.self, from: body).slot
        try request.checkZone(zones)
        return .slot(request)
    }

    private struct Body: Decodable {
        let slot: SlotRequest

        init(from decoder: any Decoder) throws {
            slot = try SlotRequest(RequestFields(decoder))
        }
    }
}
