#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A reader of all conversations of a device. It opens a new connection whenever one is lost, and returns each message
/// once with the help of ``ReceivedOffsets``. The request to connect names the last received offsets. The reader then
/// requests the messages that are still missing. The connection closes when the last reference to the reader is
/// released.
package actor ConversationReading {
    /// An event, and the server's JSON if the event comes from the server.
    package struct Item: Sendable {
        package let event: Conversations.Event
        package let source: String?
    }

    private struct Incoming: Decodable {
        let type: String
        let user: String?
        let offsets: [String: Int]?
        let message: Message?
        let lastOffset: Int?
        let ref: String?
        let code: String?
    }

    private struct Asking: Encodable {
        let type = "history"
        let conversation: String
        let after: Int
        /// The conversation's id. The server returns it with the answer, which doesn't name the conversation.
        let ref: String
    }

    /// A message of a page, with the server's JSON. The JSON may have fields that this library doesn't know.
    private struct HistoryEntry {
        let message: Message
        private let bytes: ArraySlice<UInt8>

        init?(_ bytes: ArraySlice<UInt8>) {
            guard let message = try? WireDate.decoder.decode(Message.self, from: Data(bytes)) else { return nil }
            (self.message, self.bytes) = (message, bytes)
        }

        /// The JSON of a single message in the server's format.
        var source: String { #"{"type":"message","message":\#(String(decoding: bytes, as: UTF8.self))}"# }

        /// Returns all messages of a page, or `nil` if one is invalid.
        static func page(_ bytes: [UInt8]) -> [HistoryEntry]? {
            guard let messages = JSONPieces.value(of: "messages", in: bytes[...]),
                let elements = JSONPieces.elements(of: messages)
            else { return nil }
            let page = elements.compactMap(HistoryEntry.init)
            return page.count == elements.count ? page : nil
        }
    }

    /// The number of requests that are sent without a delay, and the delay before each later one. Both respect the
    /// server's limit for the messages of a device.
    private static let burst = 150
    private static let pace = Duration.milliseconds(60)
    private static let retry = Duration.seconds(1)

    private let session: LinkSession
    private let time: ClientTime
    private let received: SharedOffsets
    /// The requests to send. The first one was sent and has no answer yet.
    private var questions: [Asking] = []
    /// The number of requests sent on this connection.
    private var askedCount = 0
    /// Received events that `next()` hasn't returned yet.
    private var ready: [Item] = []

    init(_ requests: DeviceRequests, after offsets: [UUID: Int], time: ClientTime = .system) {
        let received = SharedOffsets(offsets)
        self.received = received
        self.time = time
        session = LinkSession(requests.reconnect, silence: .seconds(45), holdsBack: true, time: time) {
            _ throws(ClientError) in
            let after = await received.connecting()
            let target = "/conversations/socket?\(requests.identity)\(after.isEmpty ? "" : "&after=\(after)")"
            return try await requests.transport.webSocket(
                ClientRequest(target: target, fields: requests.fields), subprotocols: [])
        }
    }

    deinit {
        let session = session
        Task { await session.cancel(with: .goingAway) }
    }

    package func next() async throws -> Item? {
        while ready.isEmpty {
            guard let event = try await session.next() else { return nil }
            switch event {
            case .opened, .received(.event), .received(.pong), .received(.alive): continue
            case .waiting(let wait): return Item(event: .waiting(wait), source: nil)
            case .closed(let code): return Item(event: .closed(code), source: nil)
            case .received(.message(_, let bytes)): await receive(bytes)
            }
        }
        return ready.removeFirst()
    }

    private func receive(_ bytes: [UInt8]) async {
        let source = String(decoding: bytes, as: UTF8.self)
        guard let incoming = try? WireDate.decoder.decode(Incoming.self, from: Data(bytes)) else { return }
        switch incoming.type {
        case "handshake":
            ready.append(Item(event: .entered(incoming.user ?? ""), source: source))
            var offsets: [UUID: Int] = [:]
            for (id, offset) in incoming.offsets ?? [:] { if let id = UUID(uuidString: id) { offsets[id] = offset } }
            (questions, askedCount) = ([], 0)
            for missing in await received.connected(offsets) { await ask(missing.conversation, after: missing.after) }
        case "message":
            guard let message = incoming.message else { return }
            switch await received.take(message.conversation, message.offset) {
            case .next: ready.append(Item(event: .message(message), source: source))
            case .ask(let after): await ask(message.conversation, after: after)
            case .repeated, .waits: return
            }
        case "reaction":
            guard let change = try? JSONDecoder().decode(ReactionChange.self, from: Data(bytes)) else { return }
            ready.append(Item(event: .reaction(change), source: source))
        case "history":
            guard let conversation = incoming.ref.flatMap(UUID.init(uuidString:)), let page = HistoryEntry.page(bytes)
            else { return }
            let taken = await received.take(
                page: page.map(\.message.offset), of: conversation, lastOffset: incoming.lastOffset ?? 0)
            for entry in page where taken.new.contains(entry.message.offset) {
                ready.append(Item(event: .message(entry.message), source: entry.source))
            }
            await answered(conversation, next: taken.after)
        case "error":
            guard let conversation = incoming.ref.flatMap(UUID.init(uuidString:)) else { return }
            if incoming.code == "no_such_conversation" || incoming.code == "topic_not_allowed" {
                await received.refused(conversation)
                await answered(conversation, next: nil)
            } else {
                // The database of the server is unavailable for a moment.
                try? await time.sleep(time.now() + Self.retry)
                await send()
            }
        default: return
        }
    }

    /// Queues a request. Only one request is in flight at a time, because requests count against the limit of the
    /// device's messages.
    private func ask(_ conversation: UUID, after: Int) async {
        let id = conversation.uuidString
        questions.append(Asking(conversation: id, after: after, ref: id))
        if questions.count == 1 { await send() }
    }

    private func answered(_ conversation: UUID, next: Int?) async {
        guard questions.first?.ref == conversation.uuidString else { return }
        questions.removeFirst()
        if let next {
            questions.append(Asking(conversation: conversation.uuidString, after: next, ref: conversation.uuidString))
        }
        if !questions.isEmpty { await send() }
    }

    private func send() async {
        guard let question = questions.first, let bytes = try? JSONEncoder().encode(question) else { return }
        askedCount += 1
        if askedCount > Self.burst { try? await time.sleep(time.now() + Self.pace) }
        // The request is sent only on this connection. After the next handshake, the reader requests the messages that
        // are missing then.
        try? await session.send(.message(.text, Array(bytes)), waits: false)
    }
}
