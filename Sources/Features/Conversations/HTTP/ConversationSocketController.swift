package import Access
import Domain
import Server
import Wire

/// Serves all conversations of a device through a WebSocket:
/// `GET /conversations/socket?deviceId=&after=<conversation>:<offset>,…`.
package struct ConversationSocketController: RouteCollection {
    let conversations: Conversations
    let identities: IdentityVerifier

    package init(conversations: Conversations, identities: IdentityVerifier) {
        self.conversations = conversations
        self.identities = identities
    }

    func boot(routes: RoutesBuilder) {
        routes.webSocket(
            "conversations", "socket", as: ConversationDescriptions.socket, compression: .noContextTakeover,
            options: WebSocketOptions(maxMessageBytes: { _ in SocketLimits.messageBytes }),
            admit: { request, _ in try admit(request) })
    }

    private func admit(_ request: Request) throws -> WebSocketRoute.Admission {
        let (member, after) = try identities.listener(of: request)
        @Sendable func enter(as user: String) -> WebSocketRoute.OnUpgrade {
            { [conversations] webSocket in
                let shard = conversations.shard(on: webSocket.reactor, loop: request.loop)
                return ConversationSocket(webSocket, member, user: user, after: after, on: shard)
            }
        }
        if let user = conversations.names[member.device] { return .admitted(enter(as: user)) }
        return .unknown {
            let user = try await conversations.store.positions(of: member.device).user
            conversations.names[member.device] = user
            return enter(as: user)
        }
    }
}
