package import Domain
package import FoundationEssentials
import Postgres
package import Wire

/// A user that a device doesn't want to meet, identified as the device knew the user.
package struct Block: Sendable, Hashable {
    package enum Label: Sendable, Hashable {
        /// The user's name in conversations.
        case name(String)
        /// The partner of a match, by the title and start of the partner's task.
        case partner(title: String, startsAt: Instant)
    }

    package let id: UUID
    package let label: Label
    package let blockedAt: Instant

    package func write(to json: inout JSONText) {
        json.object { object in
            object.member("id", id.text)
            switch label {
            case .name(let name): object.member("name", name)
            case .partner(let title, let startsAt):
                object.member("title", title)
                object.member("startsAt", startsAt.description)
            }
            object.member("blockedAt", blockedAt.description)
        }
    }

    package var json: [UInt8] {
        var json = JSONText()
        write(to: &json)
        return json.bytes
    }
}

extension Block {
    init(_ row: PostgresRow) throws {
        let label: Label =
            if let name = try row.optionalString("name") {
                .name(name)
            } else {
                .partner(title: try row.string("title"), startsAt: try row.instant("starts_at"))
            }
        self.init(id: try row.uuid("id"), label: label, blockedAt: try row.instant("blocked_at"))
    }
}

/// The body of a request to block a user: `{deviceId}` with one of `name` and `taskId`.
package struct BlockRequest: Sendable, Hashable {
    package enum Target: Sendable, Hashable {
        case name(UserName)
        /// The partner of this task, which must belong to the device.
        case partner(task: UUID)
    }

    package let device: DeviceID
    package let target: Target

    package init(device: DeviceID, target: Target) {
        self.device = device
        self.target = target
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package static func decode(
        _ body: [UInt8], identify: (String?) throws -> DeviceID = { try DeviceID($0) }
    ) throws -> BlockRequest {
        let members = try RequestFields.decode(Members.self, from: body)
        let device = try identify(members.deviceId)
        switch (members.name, members.taskId) {
        case (let name?, nil): return BlockRequest(device: device, target: .name(try UserName(name)))
        case (nil, let text?):
            guard let task = UUID(text: text) else { throw RequestError.invalid("taskId", "must be a UUID") }
            return BlockRequest(device: device, target: .partner(task: task))
        default: throw RequestError.invalid("Exactly one of name and taskId is required.")
        }
    }

    private struct Members: Decodable {
        let deviceId: String?
        let name: String?
        let taskId: String?

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            deviceId = try fields.optionalText("deviceId")
            name = try fields.optionalText("name")
            taskId = try fields.optionalText("taskId")
        }
    }
}
