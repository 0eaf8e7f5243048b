import Access
import Basics
import Domain
import FoundationEssentials
import Rooms
import Server
import Sockets
import Wire

/// A WebSocket of a question session. Its frames are binary.
final class QuestionSocket: WebSocketHandler, QuestionTransport {
    private let socket: WebSocket
    private let shard: QuestionShard
    private var allowance: MessageAllowance
    /// The socket's subscriber. `nil` if the session was full or the socket has closed.
    private var subscriber: QuestionSubscriber?

    init(_ socket: WebSocket, _ member: QuestionMember, on shard: QuestionShard) {
        self.socket = socket
        self.shard = shard
        allowance = MessageAllowance(of: member.device, shard.questions.messageRates)
        subscriber = shard.enter(member, self)
    }

    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
        guard allowance.pays(at: webSocket.reactor.now) else {
            return socket.close(.policyViolation, "more than \(allowance.rates.perSecond) messages per second")
        }
        subscriber?.received(QuestionMessage(message))
    }

    func webSocketDidDrain(_ webSocket: WebSocket) {
        webSocket.reportsDrain = false
        subscriber?.drained()
    }

    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {
        if let subscriber { shard.leave(subscriber) }
        subscriber = nil
    }

    var facts: ConnectionFacts {
        ConnectionFacts(
            "questions", owner: subscriber?.member.device?.text, place: subscriber?.member.session.text)
    }

    // MARK: Sending

    var webSocket: WebSocket? { socket }
    var network: IPAddress? { socket.limitedNetwork }
    var wantsPresence: Bool { true }
    var requester: Requester? { socket.requester }
    func admitsMessage() -> Bool { socket.admits(.message) }

    func send(_ event: QuestionEvent) {
        socket.send(event.payload, .binary)
    }

    func send(presence count: Int, _ shared: Publication) {
        socket.send(frame: shared.frame(ofPresence: count))
    }

    func send(_ published: PublishedQuestions, forPresenter: Bool) {
        let frames = published.frames
        guard let frame = forPresenter ? frames.presenter : frames.audience else { return }
        socket.send(frame: frame)
    }

    func send(announcement index: Int, of published: PublishedQuestions) {
        socket.send(frame: published.frames.announcements[index])
    }

    func reportDrain() { socket.reportsDrain = true }
    func awaitTurn() { subscriber?.hasTurn() }
    func endTurn() {}

    func end(_ code: QuestionSubscriber.End) {
        switch code {
        case .tooFast: socket.close(.policyViolation, "too many messages are waiting")
        case .full: socket.close(.policyViolation, "the session is full")
        case .expired: socket.close(.policyViolation, "the ticket has expired")
        case .erased: socket.close(.normalClosure, "the device's data was erased")
        case .gone: socket.close(.normalClosure, "the session was deleted")
        }
    }
}
