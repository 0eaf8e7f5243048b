package import Access
import Basics
import Domain
import FoundationEssentials
import Messaging
package import Observability
import Pages
import Server
import Wire

/// Conversations over HTTP: `/users`, `/conversations`, `/messages`.
package struct ConversationsController: RouteCollection, Sendable {
    let conversations: Conversations
    let identities: IdentityVerifier
    let log: Log
    private let page = ConversationsPage()

    package init(conversations: Conversations, identities: IdentityVerifier, log: Log) {
        self.conversations = conversations
        self.identities = identities
        self.log = log
    }

    private var store: ConversationStore { conversations.store }

    func boot(routes: RoutesBuilder) {
        routes.post("users", as: ConversationDescriptions.takeName, registers: true, use: takeName)
        routes.get("users", as: ConversationDescriptions.users, use: users)
        routes.post("conversations", as: ConversationDescriptions.make, registers: true, use: make)
        routes.get("conversations", as: ConversationDescriptions.list, use: list)
        routes.get("conversations", ":conversation", "messages", as: ConversationDescriptions.messages, use: messages)
        for kind in ParticipantRequest.Kind.allCases {
            routes.post("conversations", ":conversation", kind.rawValue, as: ConversationDescriptions.set(kind)) {
                try await set($0, kind)
            }
        }
        routes.post("messages", as: ConversationDescriptions.send, use: send)
        routes.get("messages", as: ConversationDescriptions.follow, use: follow)
    }

    // MARK: Users

    @Sendable private func takeName(_ request: Request) async throws -> Response {
        var member: ConversationMember?
        let wanted = try UserRequest.decode(request.body) { try identities.device($0, of: request, &member) }
        // A name is for all conversations, and for ever.
        try member?.checkNew()
        let isNew = try await store.take(wanted.name, for: wanted.device) { request.wait(for: .naming) }
        if isNew {
            conversations.named(wanted.device, wanted.name.text)
            log.info("name taken", ["device": .device(wanted.device)])
        }
        var json = JSONText()
        json.object { $0.member("name", wanted.name.text) }
        return .json(json.bytes, status: isNew ? .created : .ok)
    }

    @Sendable private func users(_ request: Request) async throws -> Response {
        _ = try identities.member(of: request)
        let names = try await store.users(prefix: UserName.prefix(request.query("prefix") ?? ""))
        var json = JSONText()
        json.object { object in
            object.name("users")
            object.array { array in
                for name in names { array.string(name) }
            }
        }
        return .json(json.bytes)
    }

    // MARK: Conversations

    @Sendable private func make(_ request: Request) async throws -> Response {
        var member: ConversationMember?
        let wanted = try NewConversationRequest.decode(request.body) { try identities.device($0, of: request, &member) }
        if let id = wanted.id { try member?.check(id) } else { try member?.checkNew() }
        let (conversation, isNew) = try await store.make(wanted)
        return .json(conversation.json, status: isNew ? .created : .ok)
    }

    /// Who doesn't say who it is, is somebody with a browser: the page knows it.
    @Sendable private func list(_ request: Request) async throws -> Response {
        if case .none = try identities.identity(of: request.head) { return try await page.response(to: request.head) }
        let member = try identities.member(of: request)
        var last: ConversationCursor?
        if let text = request.query("before") {
            guard let cursor = ConversationCursor(text) else {
                throw RequestError.invalid("before", "must be a conversation's UUID, or a list's next")
            }
            last = cursor
        }
        let found = try await store.conversations(of: member.device, before: last)
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
        let range: ConversationStore.MessageRange =
            if let before { .before(before) } else { .after(try number("after", of: request) ?? 0) }
        let limit = try number("limit", of: request) ?? ConversationPage.maximumCount
        guard limit > 0 else { throw RequestError.invalid("limit", "must be more than 0") }
        let page = try await store.messages(in: id, range, limit: limit, for: member.device)
        var json = JSONText()
        json.object { page.writeMembers(to: &$0) }
        return .json(json.bytes)
    }

    private func set(_ request: Request, _ kind: ParticipantRequest.Kind) async throws -> Response {
        let id = try conversation(of: request)
        var member: ConversationMember?
        let wanted = try ParticipantRequest.decode(kind, request.body) {
            try identities.device($0, of: request, &member)
        }
        try member?.check(id)
        return .json(try await store.set(wanted, in: id).json)
    }

    // MARK: Messages

    @Sendable private func send(_ request: Request) async throws -> Response {
        var member: ConversationMember?
        let wanted = try MessageRequest.decode(request.body) { try identities.device($0, of: request, &member) }
        guard let member else { throw RequestError.invalid("deviceId", "is missing") }
        guard conversations.rates.pays(wanted.device, at: .now()) else {
            throw RequestError(
                status: 429, code: "too_many_messages", reason: "More messages than a device may send.", retryAfter: 1)
        }
        try member.check(wanted.message.target)
        if let seconds = request.wait(for: .message, times: wanted.message.target.count) {
            throw RequestError.tooManyMessages(retryAfter: seconds)
        }
        let sent = try await conversations.send(wanted.message, by: member)
        var json = JSONText()
        json.object { object in
            object.name("messages")
            object.array { array in
                for message in sent.messages { message.write(to: &array) }
            }
        }
        return .json(json.bytes, status: sent.isNew ? .created : .ok)
    }

    /// `event: message`, for `curl -N`.
    @Sendable private func follow(_ request: Request) async throws -> Response {
        let member = try identities.member(of: request)
        let after = try ConversationOffsets(request.query("after"))
        let user = try await store.positions(of: member.device).user
        let headers = [
            HTTPField("Content-Type", "text/event-stream"),
            // A proxy that gathers bytes would hold messages back.
            HTTPField("X-Accel-Buffering", "no"),
        ]
        guard request.head.method == .get else { return Response(headers: headers, body: .stream { $0.finish() }) }
        return Response(
            headers: headers,
            body: .stream { stream in
                let shard = conversations.shard(on: stream.reactor, loop: stream.loop)
                ConversationStream.begin(stream, member, user: user, after: after.offsets, on: shard)
            })
    }

    // MARK: Requests

    private func conversation(of request: Request) throws(RequestError) -> UUID {
        guard let id = request.parameters["conversation"].flatMap(UUID.init(text:)) else {
            throw .invalid("A conversation is named by its UUID.")
        }
        return id
    }

    private func number(_ name: String, of request: Request) throws(RequestError) -> Int? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int(text), number >= 0 else { throw .invalid(name, "must be a number") }
        return number
    }
}
