package import Access
import Domain
import FoundationEssentials
import Messaging
import Rooms
import Server
import Sockets
import Wire

/// `GET /conversations/socket?deviceId=&after=<conversation>:<offset>,…`: all conversations of a device.
package struct ConversationSocketController: RouteCollection, Sendable {
    let conversations: Conversations
    let identities: IdentityVerifier

    package init(conversations: Conversations, identities: IdentityVerifier) {
        self.conversations = conversations
        self.identities = identities
    }

    func boot(routes: RoutesBuilder) {
        routes.webSocket(
            "conversations", "socket", as: ConversationDescriptions.socket, admit: admit,
            compression: .noContextTakeover,
            options: WebSocketOptions(maxMessageBytes: { _ in SocketLimits.messageBytes }), onUpgrade: enter)
    }

    @Sendable private func admit(_ request: Request, _ reactor: Reactor) throws -> WebSocketRoute.Admission {
        let member = try ConversationMember(identities.identity(of: request.head))
        _ = try ConversationOffsets(request.query("after"))
        if conversations.names[member.device] != nil { return .admitted }
        return .unknown {
            conversations.names[member.device] = try await conversations.store.positions(of: member.device).user
        }
    }

    @Sendable private func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        // `admit` has seen all of it. A ticket may have ended since.
        guard let member = try? ConversationMember(identities.identity(of: request.head)),
            let offsets = try? ConversationOffsets(request.query("after")),
            let user = conversations.names[member.device]
        else {
            webSocket.close(.tryAgainLater, "please come again")
            return NoConversations()
        }
        let shard = conversations.shard(on: webSocket.reactor, loop: request.loop)
        return ConversationSocket(
            webSocket, member, user: user, after: offsets.offsets, paying: conversations.rates, on: shard)
    }
}

/// Says nothing, and hears nothing.
private final class NoConversations: WebSocketHandler {
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {}
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
}
