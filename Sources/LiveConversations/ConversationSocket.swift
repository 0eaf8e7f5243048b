package import Access
import Domain
import FoundationEssentials
import Messaging
import Rooms
import Server
import Sockets
import Wire

/// A WebSocket that hears conversations. Its frames are text.
final class ConversationSocket: WebSocketHandler, ExclusiveConversationSink {
    private let socket: WebSocket
    private let shard: ConversationShard
    private var purse: MessagePurse
    /// `nil`: its ticket is over, or it is.
    private(set) var subscriber: ConversationSubscriber?

    init(
        _ socket: WebSocket, _ member: ConversationMember, user: String, after: [UUID: Int],
        paying rates: DeviceMessageRates, on shard: ConversationShard
    ) {
        self.socket = socket
        self.shard = shard
        purse = MessagePurse(of: member.device, rates)
        subscriber = shard.enter(member, user: user, after: after, self)
    }

    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
        guard purse.pays(at: webSocket.reactor.now) else {
            return socket.close(.policyViolation, "more than \(purse.rates.perSecond) messages a second")
        }
        subscriber?.received(ConversationCommand(message))
    }

    func webSocketDidDrain(_ webSocket: WebSocket) {
        webSocket.reportsDrain = false
        subscriber?.drained()
    }

    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {
        if let subscriber { shard.leave(subscriber) }
        subscriber = nil
    }

    var facts: ConnectionFacts { ConnectionFacts("conversations", owner: subscriber?.member.device.text) }

    // MARK: What it is sent

    var wantsPresence: Bool { true }

    func send(_ event: ConversationEvent) {
        socket.send(event.payload, .text)
    }

    func send(_ messages: ArraySlice<ConversationMessage>, of page: ConversationPage, _ shared: Publication?) {
        let frames = shared?.form { ConversationFrames(page) } ?? ConversationFrames(page)
        for index in messages.indices { socket.send(frame: frames[index]) }
    }

    func reportDrain() {
        socket.reportsDrain = true
    }

    func end(_ cause: ConversationSinkEnd) {
        switch cause {
        case .tooFast: socket.close(.policyViolation, "more messages wait than may")
        case .expired: socket.close(.policyViolation, "the ticket is over")
        case .erased: socket.close(.normalClosure, "the device was erased")
        }
    }
}

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
