import Basics
import Domain
import FoundationEssentials
import Server
import Sockets
import Wire

/// Streams all conversations of a device as server-sent events: `GET /messages`.
final class ConversationStream: ExclusiveConversationTransport {
    private static let commentInterval = Duration.seconds(15)

    private let stream: ResponseStream
    private let shard: ConversationShard
    private(set) var subscriber: ConversationSubscriber?
    private var comments: TimerID?

    /// Begins to send to a stream. The stream keeps the transport alive.
    static func begin(
        _ stream: ResponseStream, _ member: ConversationMember, user: String, after: [UUID: Int],
        on shard: ConversationShard
    ) {
        let transport = ConversationStream(stream, on: shard)
        stream.closed = { transport.leave() }
        stream.facts = { ConnectionFacts("conversations", owner: member.device.text) }
        stream.drained = { [weak transport] in transport?.subscriber?.drained() }
        transport.write { ServerSentEvent.comment("messages", into: &$0) }
        transport.subscriber = shard.enter(member, user: user, after: after, transport)
        // The stream has already ended if the ticket has just expired.
        if transport.subscriber != nil { transport.comment() }
    }

    private init(_ stream: ResponseStream, on shard: ConversationShard) {
        self.stream = stream
        self.shard = shard
    }

    private func leave() {
        if let subscriber { shard.leave(subscriber) }
        subscriber = nil
        if let comments { stream.reactor.cancel(comments) }
        comments = nil
        (stream.closed, stream.drained) = (nil, nil)
    }

    /// Sends a comment, so that proxies keep the connection open.
    private func comment() {
        comments = stream.reactor.schedule(after: Self.commentInterval) { [weak self] in
            self?.write { ServerSentEvent.comment("", into: &$0) }
            self?.comment()
        }
    }

    private func write(_ encode: (inout [UInt8]) -> Void) {
        stream.write(StreamChunk(encoding: encode))
    }

    // MARK: Sending

    var wantsPresence: Bool { false }
    var requester: Requester? { stream.requester }
    /// A stream can't send messages.
    func admits(messages count: Int) -> Bool { false }

    func send(_ event: ConversationEvent) {
        switch event {
        case .left, .reaction: write(event)
        case .handshake, .message, .presence, .sent, .reacted, .history, .error: break
        }
    }

    func send(_ batch: SubscriberMessages) {
        for message in batch.messages { write(.message(message, routingKey: batch.page.routingKey)) }
    }

    private func write(_ event: ConversationEvent) {
        let json = String(decoding: event.payload, as: UTF8.self)
        write { ServerSentEvent(event: event.type, data: json).encode(into: &$0) }
    }

    func reportDrain() {
        if stream.isDrained { subscriber?.drained() }
    }

    func end(_ cause: ConversationTransportEnd) {
        stream.finish()
        leave()
    }
}
