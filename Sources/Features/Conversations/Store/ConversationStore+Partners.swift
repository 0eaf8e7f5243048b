package import Domain
package import FoundationEssentials
import Postgres
import Wire

/// The state of the conversation between partners of a match. It opens when both users have asked.
///
/// ```
/// no request ──one user asks──► asked, the partner is notified ──the partner asks──► opened
/// ```
package struct PartnerConversation: Sendable {
    package enum Progress: Sendable {
        case waiting(hasAsked: Bool, partnerHasAsked: Bool)
        case opened(Conversation, isNew: Bool)
    }

    package let progress: Progress
    /// The partner's device, which must be notified. It is never shown.
    package let partner: DeviceID
    /// The start of the match.
    package let startsAt: Instant

    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            switch progress {
            case .waiting(let hasAsked, let partnerHasAsked):
                object.member("asked", hasAsked)
                object.member("partnerAsked", partnerHasAsked)
            case .opened(let conversation, _):
                object.member("asked", true)
                object.member("partnerAsked", true)
                object.name("conversation")
                conversation.write(to: &object)
            }
        }
        return json.bytes
    }
}

/// The body `{deviceId}`, and a task of that device from the path.
package struct PartnerRequest: Sendable, Hashable {
    package let device: DeviceID
    package let task: UUID

    package init(device: DeviceID, task: UUID) {
        self.device = device
        self.task = task
    }

    package static func decode(
        _ body: [UInt8], task: UUID, identify: (String?) throws -> DeviceID = { try DeviceID($0) }
    ) throws -> PartnerRequest {
        let members = try RequestFields.decode(Members.self, from: body)
        return PartnerRequest(device: try identify(members.deviceId), task: task)
    }

    private struct Members: Decodable {
        let deviceId: String?

        init(from decoder: any Decoder) throws {
            deviceId = try RequestFields(decoder).optionalText("deviceId")
        }
    }
}

extension ConversationStore {
    /// Asks a task's partner for a conversation. Opens it if the partner has also asked.
    package func askPartner(_ request: PartnerRequest) async throws -> PartnerConversation {
        try await partner(request, asks: true)
    }

    /// Returns the state of the conversation with a task's partner.
    package func partnerConversation(_ request: PartnerRequest) async throws -> PartnerConversation {
        try await partner(request, asks: false)
    }

    private func partner(_ request: PartnerRequest, asks: Bool) async throws -> PartnerConversation {
        let reservation = storage.reserve(in: .conversations, count: asks ? 1 : 0)
        let row = try await storage.using(reservation) {
            try await database.query(
                Statement.askPartner,
                [
                    .text(request.device.text), .text(request.task.text), .boolean(asks), .text(UUID().text),
                    .integer(settings.perDevice), .boolean(reservation.isGranted),
                ])[0]
        }
        let code = try row.string("code")
        if code != "made" { storage.giveBack(reservation) }
        if code == "conversations_full", let refusal = reservation.refusal { throw refusal }
        let progress: PartnerConversation.Progress
        switch code {
        case "nobody_asked": progress = .waiting(hasAsked: false, partnerHasAsked: false)
        case "asked": progress = .waiting(hasAsked: true, partnerHasAsked: false)
        case "partner_asked": progress = .waiting(hasAsked: false, partnerHasAsked: true)
        case "made", "there": progress = .opened(try Conversation(row), isNew: code == "made")
        default: throw try settings.refusal(code)
        }
        if code == "made" { storage.added(.conversations) }
        return PartnerConversation(
            progress: progress, partner: DeviceID(stored: try row.string("partner_device")),
            startsAt: try row.instant("starts_at"))
    }
}
