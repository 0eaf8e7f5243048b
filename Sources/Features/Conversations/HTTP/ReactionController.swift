import Access
import Basics
import Domain
import FoundationEssentials
import Server
import Wire

/// Adds and removes reactions: `/conversations/<conversation>/messages/<message>/reactions`.
struct ReactionController: RouteCollection {
    private let conversations: Conversations
    private let identities: IdentityVerifier

    init(conversations: Conversations, identities: IdentityVerifier) {
        self.conversations = conversations
        self.identities = identities
    }

    func boot(routes: RoutesBuilder) {
        routes.post(
            "conversations", ":conversation", "messages", ":message", "reactions", as: ConversationDescriptions.react,
            use: add)
        routes.delete(
            "conversations", ":conversation", "messages", ":message", "reactions", as: ConversationDescriptions.unreact,
            use: remove)
    }

    @Sendable private func add(_ request: Request) async throws -> Response {
        let (conversation, message) = try (id("conversation", of: request), id("message", of: request))
        let (body, member) = try identities.decode(request) { try ReactionBody.decode(request.body, identify: $0) }
        let reaction = ReactionRequest(
            conversation: conversation, message: message, emoji: body.emoji, action: .add)
        return try await perform(reaction, by: member, request)
    }

    @Sendable private func remove(_ request: Request) async throws -> Response {
        let (conversation, message) = try (id("conversation", of: request), id("message", of: request))
        let member = try identities.member(of: request)
        guard let emoji = request.query("emoji") else { throw RequestError.invalid("emoji", "is missing") }
        let reaction = ReactionRequest(
            conversation: conversation, message: message, emoji: try Emoji(emoji), action: .remove)
        return try await perform(reaction, by: member, request)
    }

    /// Performs a reaction, which counts as a message in all rates.
    private func perform(
        _ reaction: ReactionRequest, by member: ConversationMember, _ request: Request
    ) async throws -> Response {
        guard conversations.rates.pays(member.device, at: .now()) else { throw RequestError.sendsTooFast }
        try member.check(reaction.conversation)
        if let seconds = request.wait(for: .message) { throw RequestError.tooManyMessages(retryAfter: seconds) }
        let reacted = try await conversations.responder.react(reaction, by: member)
        let isCreated = reaction.action == .add && reacted.isNew
        return .json(reacted.message.json, status: isCreated ? .created : .ok)
    }

    private func id(_ name: String, of request: Request) throws(RequestError) -> UUID {
        guard let id = request.parameters[name].flatMap(UUID.init(text:)) else {
            throw .invalid("The \(name) in the path must be a UUID.")
        }
        return id
    }
}
