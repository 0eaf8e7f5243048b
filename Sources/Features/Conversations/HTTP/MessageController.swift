package import Access
import Basics
import Domain
package import Server
import Wire

/// Serves `/messages`: stores messages, and streams them as server-sent events.
package struct MessageController: RouteCollection {
    private let conversations: Conversations
    private let identities: IdentityVerifier

    package init(conversations: Conversations, identities: IdentityVerifier) {
        self.conversations = conversations
        self.identities = identities
    }

    package func boot(routes: RoutesBuilder) {
        routes.post("messages", as: ConversationDescriptions.send, use: send)
        routes.get("messages", as: ConversationDescriptions.follow, use: follow)
    }

    @Sendable private func send(_ request: Request) async throws -> Response {
        let (body, member) = try identities.decode(request) { try MessageRequest.decode(request.body, identify: $0) }
        guard conversations.rates.pays(body.device, at: .now()) else { throw RequestError.sendsTooFast }
        try member.check(body.message.target)
        if let seconds = request.wait(for: .message, times: body.message.target.count) {
            throw RequestError.tooManyMessages(retryAfter: seconds)
        }
        let sent = try await conversations.responder.send(body.message, by: member)
        var json = JSONText()
        json.object { object in
            object.name("messages")
            object.array { array in
                for message in sent.messages { message.write(to: &array) }
            }
        }
        return .json(json.bytes, status: sent.isNew ? .created : .ok)
    }

    /// Streams messages as `event: message`, for example for `curl -N`.
    @Sendable private func follow(_ request: Request) async throws -> Response {
        let (member, after) = try identities.listener(of: request)
        let user = try await conversations.store.positions(of: member.device).user
        let headers = [
            HTTPField("Content-Type", "text/event-stream"),
            // A proxy that compresses the stream would delay events.
            HTTPField("Cache-Control", "no-store, no-transform"),
            // A proxy that buffers the stream would delay messages.
            HTTPField("X-Accel-Buffering", "no"),
        ]
        guard request.head.method == .get else { return Response(headers: headers, body: .stream { $0.finish() }) }
        return Response(
            headers: headers,
            body: .stream { stream in
                let shard = conversations.shard(on: stream.reactor, loop: stream.loop)
                ConversationStream.begin(stream, member, user: user, after: after, on: shard)
            })
    }
}

extension RequestError {
    static let sendsTooFast = RequestError(
        status: 429, code: "too_many_messages", reason: "This device sends messages too fast. Try again in a second.",
        retryAfter: 1)
}
