package import Access
import Messaging
import Server
import Wire

/// Serves all conversations of a device: `GET /conversations/socket?deviceId=&after=<conversation>:<offset>,…`.
package struct ConversationSocketController: RouteCollection, Sendable {
    let conversations: Conversations
    let identities: IdentityVerifier

    package init(conversations: Conversations, identities: IdentityVerifier) {
        self.conversations = conversations
        self.identities = identities
    }

    func boot(routes: RoutesBuilder) {
        routes.webSocket(
            "conversations", "socket", as: ConversationDescriptions.socket, admit: { request, _ in try admit(request) },
            compression: .noContextTakeover,
            options: WebSocketOptions(maxMessageBytes: { _ in SocketLimits.messageBytes }), onUpgrade: enter)
    }

    private func admit(_ request: Request) throws -> WebSocketRoute.Admission {
        let (member, _) = try identities.listener(of: request)
        if conversations.names[member.device] != nil { return .admitted }
        return .unknown {
            conversations.names[member.device] = try await conversations.store.positions(of: member.device).user
        }
    }

    @Sendable private func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        // `admit` has checked the request. A ticket may have expired since.
        guard let (member, after) = try? identities.listener(of: request),
            let user = conversations.names[member.device]
        else {
            webSocket.close(.tryAgainLater, "please try again")
            return NoConversations()
        }
        let shard = conversations.shard(on: webSocket.reactor, loop: request.loop)
        return ConversationSocket(webSocket, member, user: user, after: after, on: shard)
    }
}

/// A handler that ignores all messages, for a socket that closes at once.
private final class NoConversations: WebSocketHandler {
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {}
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
}
