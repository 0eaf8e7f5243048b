package import Access
import Domain
import FoundationEssentials
import Server
import Wire

/// Serves `/conversations`: creates, lists and reads conversations, and performs participants' actions.
package struct ConversationsController: RouteCollection {
    let conversations: Conversations
    let identities: IdentityVerifier
    private let page = ConversationsPage()

    package init(conversations: Conversations, identities: IdentityVerifier) {
        self.conversations = conversations
        self.identities = identities
    }

    /// The cost of a list in the rate limit, in requests. A list has up to a thousand conversations with all their
    /// names and last messages.
    private static let listCost = 20

    func boot(routes: RoutesBuilder) {
        routes.post("conversations", as: ConversationDescriptions.make, registers: true, use: make)
        routes.get("conversations", as: ConversationDescriptions.list, cost: Self.listCost, use: list)
        routes.get("conversations", ":conversation", "messages", as: ConversationDescriptions.messages, use: messages)
        for kind in ParticipantRequest.Kind.allCases {
            routes.post("conversations", ":conversation", kind.rawValue, as: ConversationDescriptions.set(kind)) {
                try await set($0, kind)
            }
        }
    }

    @Sendable private func make(_ request: Request) async throws -> Response {
        let (body, member) = try identities.decode(request) {
            try NewConversationRequest.decode(request.body, identify: $0)
        }
        if let id = body.id { try member.check(id) } else { try member.checkNew() }
        let (conversation, isNew) = try await conversations.store.make(body)
        return .json(conversation.json, status: isNew ? .created : .ok)
    }

    /// Returns a device's conversations. A request without a device comes from a browser, and receives the page.
    @Sendable private func list(_ request: Request) async throws -> Response {
        if case .none = try identities.identity(of: request.head) { return try await page.response(to: request.head) }
        let member = try identities.member(of: request)
        var last: ConversationCursor?
        if let text = request.query("before") {
            guard let cursor = ConversationCursor(text) else {
                throw RequestError.invalid(
                    "before", "must be the UUID of a conversation, or next from an earlier answer")
            }
            last = cursor
        }
        let found = try await conversations.store.conversations(of: member.device, before: last)
        var json = JSONText()
        json.object { object in
            object.name("conversations")
            object.array { array in
                for conversation in found.conversations where member.allows(conversation.id) {
                    conversation.write(to: &array)
                }
            }
            object.member("next", found.next?.description)
        }
        return .json(json.bytes)
    }

    @Sendable private func messages(_ request: Request) async throws -> Response {
        let (member, id) = (try identities.member(of: request), try conversation(of: request))
        try member.check(id)
        let before = try number("before", of: request)
        let after = try before == nil ? number("after", of: request) : nil
        let limit = try number("limit", of: request) ?? ConversationPage.maximumCount
        guard limit > 0 else { throw RequestError.invalid("limit", "must be more than 0") }
        let page = try await conversations.store.messages(
            in: id, before.map { .before($0) } ?? .after(after ?? 0), limit: limit, for: member.device)
        var json = JSONText()
        json.object { page.writeMembers(to: &$0) }
        return .json(json.bytes)
    }

    private func set(_ request: Request, _ kind: ParticipantRequest.Kind) async throws -> Response {
        let id = try conversation(of: request)
        let (body, member) = try identities.decode(request) {
            try ParticipantRequest.decode(kind, request.body, identify: $0)
        }
        try member.check(id)
        return .json(try await conversations.store.set(body, in: id).json)
    }

    // MARK: Requests

    private func conversation(of request: Request) throws(RequestError) -> UUID {
        guard let id = request.parameters["conversation"].flatMap(UUID.init(text:)) else {
            throw .invalid("The conversation in the path must be a UUID.")
        }
        return id
    }

    private func number(_ name: String, of request: Request) throws(RequestError) -> Int? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int(text), number >= 0 else { throw .invalid(name, "must be a whole number of at least 0") }
        return number
    }
}
