import Access
import Basics
import Domain
import FoundationEssentials
import Server
import Sockets
import Wire

/// A WebSocket that subscribes to conversations. Its frames are text.
final class ConversationSocket: WebSocketHandler, ExclusiveConversationTransport {
    private let socket: WebSocket
    private let shard: ConversationShard
    private var allowance: MessageAllowance
    /// The socket's subscriber. `nil` if the ticket has expired or the socket has closed.
    private(set) var subscriber: ConversationSubscriber?

    init(
        _ socket: WebSocket, _ member: ConversationMember, user: String, after: [UUID: Int],
        on shard: ConversationShard
    ) {
        self.socket = socket
        self.shard = shard
        allowance = MessageAllowance(of: member.device, shard.conversations.rates)
        subscriber = shard.enter(member, user: user, after: after, self)
    }

    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
        guard allowance.pays(at: webSocket.reactor.now) else {
            return socket.close(.policyViolation, "more than \(allowance.rates.perSecond) messages per second")
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

    // MARK: Sending

    var wantsPresence: Bool { true }
    var requester: Requester? { socket.requester }
    func admits(messages count: Int) -> Bool { socket.admits(.message, times: count) }

    func send(_ event: ConversationEvent) {
        socket.send(event.payload, .text)
    }

    func send(_ batch: SubscriberMessages) {
        let frames = batch.frames
        for index in batch.messages.indices { socket.send(frame: frames[index]) }
    }

    func reportDrain() {
        socket.reportsDrain = true
    }

    func end(_ cause: ConversationTransportEnd) {
        switch cause {
        case .tooFast: socket.close(.policyViolation, "too many messages are waiting")
        case .expired: socket.close(.policyViolation, "the ticket has expired")
        case .erased: socket.close(.normalClosure, "the device's data was erased")
        }
    }
}
