package import Domain
package import FoundationEssentials

/// The body of `POST /task`.
package struct TaskRequest: Hashable, Sendable {
    package private(set) var slot: SlotRequest
    package let title: String
    /// Whether the task waits for a guest who receives its link.
    package let invites: Bool

    package init(slot: SlotRequest, title: String, invites: Bool = false) {
        self.slot = slot
        self.title = title
        self.invites = invites
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package static func decode(_ body: [UInt8], zones: TimeZoneNames) throws(RequestError) -> TaskRequest {
        var request = try RequestFields.decode(TaskRequest.self, from: body)
        try request.slot.spellZone(zones)
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

/// A task of the requesting device.
package struct OwnTask: Hashable, Sendable {
    package let id: UUID
    package let device: DeviceID

    package init(id: UUID, device: DeviceID) {
        self.id = id
        self.device = device
    }

    /// Reads the path and the query. The id may have either case. Throws `invalid_request` with the name of the invalid
    /// field.
    package init(id: String, deviceId: String?) throws(RequestError) {
        guard let id = UUID(text: id) else { throw .invalid("id", "must be the UUID of a task") }
        self.init(id: id, device: try DeviceID(deviceId))
    }
}

/// The request of `POST /task/delete` and `DELETE /task/{id}?deviceId=`.
package enum CancelRequest: Hashable, Sendable {
    case slot(SlotRequest)
    case task(OwnTask)

    /// Reads the device and the slot, and ignores other fields. Throws `invalid_request` with the name of the invalid
    /// field.
    package static func decode(_ body: [UInt8], zones: TimeZoneNames) throws(RequestError) -> CancelRequest {
        var request = try RequestFields.decode(Body.self, from: body).slot
        try request.spellZone(zones)
        return .slot(request)
    }

    private struct Body: Decodable {
        let slot: SlotRequest

        init(from decoder: any Decoder) throws {
            slot = try SlotRequest(RequestFields(decoder))
        }
    }
}
