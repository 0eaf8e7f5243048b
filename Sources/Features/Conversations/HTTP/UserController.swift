package import Access
import Domain
package import Observability
package import Server
import Wire

/// Serves `/users`: registers a device's name for all its conversations, and finds other users' names.
package struct UserController: RouteCollection {
    private let conversations: Conversations
    private let identities: IdentityVerifier
    private let log: Log

    package init(conversations: Conversations, identities: IdentityVerifier, log: Log) {
        self.conversations = conversations
        self.identities = identities
        self.log = log
    }

    package func boot(routes: RoutesBuilder) {
        routes.post("users", as: ConversationDescriptions.takeName, registers: true, use: takeName)
        routes.get("users", as: ConversationDescriptions.users, use: users)
    }

    @Sendable private func takeName(_ request: Request) async throws -> Response {
        let (body, member) = try identities.decode(request) { try UserRequest.decode(request.body, identify: $0) }
        // A name applies to all conversations and can't be changed.
        try member.checkNew()
        let isNew = try await conversations.store.take(body.name, for: body.device) { request.wait(for: .naming) }
        if isNew {
            conversations.named(body.device, body.name.text)
            log.info("name registered", ["device": .device(body.device)])
        }
        var json = JSONText()
        json.object { $0.member("name", body.name.text) }
        return .json(json.bytes, status: isNew ? .created : .ok)
    }

    @Sendable private func users(_ request: Request) async throws -> Response {
        _ = try identities.member(of: request)
        let names = try await conversations.store.users(prefix: UserName.prefix(request.query("prefix") ?? ""))
        var json = JSONText()
        json.object { object in
            object.name("users")
            object.array { array in
                for name in names { array.string(name) }
            }
        }
        return .json(json.bytes)
    }
}
