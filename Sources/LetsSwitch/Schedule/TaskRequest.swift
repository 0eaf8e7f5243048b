package import Domain

/// `POST /task`.
package struct TaskRequest: Hashable, Sendable {
    package static let maximumTitleScalars = 200

    package let slot: SlotRequest
    package let title: String

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
        title = try RequestText.checkShown(members.text("title"), "title", maximumScalars: Self.maximumTitleScalars)
    }
}
