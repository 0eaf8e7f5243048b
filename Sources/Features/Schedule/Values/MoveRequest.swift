package import Domain

/// The body of `POST /task/{id}/move`.
package struct MoveRequest: Hashable, Sendable {
    package let task: OwnTask
    package let slot: RequestedSlot
    /// `nil` for the task's own time zone.
    package let timeZone: String?

    package init(task: OwnTask, slot: RequestedSlot, timeZone: String? = nil) {
        self.task = task
        self.slot = slot
        self.timeZone = timeZone
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package static func decode(
        id: String, _ body: [UInt8], zones: TimeZoneNames
    ) throws(RequestError) -> MoveRequest {
        let body = try RequestFields.decode(Body.self, from: body)
        let timeZone = try body.timeZone.map(zones.known)
        return MoveRequest(
            task: try OwnTask(id: id, deviceId: body.deviceId), slot: body.slot, timeZone: timeZone)
    }

    private struct Body: Decodable {
        let deviceId: String
        let slot: RequestedSlot
        let timeZone: String?

        init(from decoder: any Decoder) throws {
            let members = try RequestFields(decoder)
            deviceId = try members.text("deviceId")
            slot = try RequestedSlot(members)
            timeZone = try members.optionalText("timeZone")
        }
    }
}
