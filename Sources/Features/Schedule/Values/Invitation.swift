package import Domain
import Wire

/// The token of an invitation. Anyone who has the token may become the partner. The database computes it from the task
/// (SQL/invitations.sql).
package struct InvitationToken: Hashable, Sendable {
    private static let characterCount = 32

    package let text: String

    /// Creates a token from text. Returns `nil` if the text isn't a token.
    package init?(_ text: String) {
        guard text.utf8.count == Self.characterCount,
            text.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        self.text = text
    }

    /// Reads the token from a path. Throws `no_such_invitation` if it isn't a token.
    package init(path text: String) throws(RequestError) {
        guard let token = InvitationToken(text) else { throw .invitation("no_such_invitation") }
        self = token
    }

    /// The path of the link. The token is in the fragment, which browsers don't send to servers.
    package var path: String { "/#invitation/\(text)" }
}

extension InvitationToken: CustomStringConvertible {
    package var description: String { "…" }
}

/// An invitation: the host's task, and until when a guest may accept.
package struct Invitation: Hashable, Sendable {
    package let title: String
    package let startTime: String
    package let timeZone: String
    package let startsAt: Instant
    package let closesAt: Instant

    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("title", title)
            object.member("startTime", startTime)
            object.member("timeZone", timeZone)
            object.member("startsAt", startsAt.description)
            object.member("closesAt", closesAt.description)
        }
        return json.bytes
    }
}

/// The body of `POST /invitations/{token}`.
package struct InvitationRequest: Hashable, Sendable {
    package let device: DeviceID
    package let token: InvitationToken
    package let title: String
    /// `nil` for the host's time zone.
    package let timeZone: String?

    package init(device: DeviceID, token: InvitationToken, title: String, timeZone: String? = nil) {
        self.device = device
        self.token = token
        self.title = title
        self.timeZone = timeZone
    }

    /// Throws `invalid_request` with the name of the invalid field, or `no_such_invitation`.
    package static func decode(
        token: String, _ body: [UInt8], zones: TimeZoneNames
    ) throws(RequestError) -> InvitationRequest {
        let body = try RequestFields.decode(Body.self, from: body)
        let timeZone = try body.timeZone.map(zones.known)
        return InvitationRequest(
            device: try DeviceID(body.deviceId), token: try InvitationToken(path: token), title: body.title,
            timeZone: timeZone)
    }

    private struct Body: Decodable {
        let deviceId: String
        let title: String
        let timeZone: String?

        init(from decoder: any Decoder) throws {
            let members = try RequestFields(decoder)
            deviceId = try members.text("deviceId")
            title = try members.title()
            timeZone = try members.optionalText("timeZone")
        }
    }
}

extension RequestError {
    static func invitation(_ code: String) -> RequestError {
        switch code {
        case "invitation_used":
            RequestError(status: 409, code: code, reason: "This invitation has already been accepted.")
        case "own_invitation":
            RequestError(status: 409, code: code, reason: "A device can't accept its own invitation.")
        default:
            RequestError(status: 404, code: code, reason: "This invitation doesn't exist, or is no longer valid.")
        }
    }
}
