import Access
import Domain
import Features
import FoundationEssentials
import Observability
import Server
import Wire

/// Opens a conversation between the partners of a match: `/task/<id>/conversation`.
struct PartnerController: RouteCollection {
    let store: ConversationStore
    let identities: IdentityVerifier
    let day: any DayNotifier
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post(
            "task", ":task", "conversation", as: ConversationDescriptions.askPartner, registers: true, use: ask)
        routes.get("task", ":task", "conversation", as: ConversationDescriptions.lookAtPartner, use: look)
    }

    @Sendable private func ask(_ request: Request) async throws -> Response {
        let task = try task(of: request)
        let (asked, member) = try identities.decode(request) {
            try PartnerRequest.decode(request.body, task: task, identify: $0)
        }
        try member.checkNew()
        let found = try await store.askPartner(asked)
        // Both devices read their day again. The partner then finds the request.
        await day.dayChanged(of: [asked.device, found.partner], at: found.startsAt)
        switch found.progress {
        case .waiting: return .json(found.json, status: .accepted)
        case .opened(let conversation, let isNew):
            if isNew {
                log.info(
                    "conversation with a partner opened",
                    ["conversation": .string(conversation.id.text), "device": .device(asked.device)])
            }
            return .json(found.json, status: isNew ? .created : .ok)
        }
    }

    @Sendable private func look(_ request: Request) async throws -> Response {
        let (member, task) = (try identities.member(of: request), try task(of: request))
        try member.checkNew()
        let found = try await store.partnerConversation(PartnerRequest(device: member.device, task: task))
        return .json(found.json)
    }

    private func task(of request: Request) throws(RequestError) -> UUID {
        guard let id = request.parameters["task"].flatMap(UUID.init(text:)) else {
            throw .invalid("The task in the path must be a UUID.")
        }
        return id
    }
}
