#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A reader of all of a device's conversations, over one connection after another; ``HeardOffsets`` sees to it that each message
/// is heard once. The connection is left when nobody holds it.
package actor ConversationReading {
    /// What happened, and the server's own text of it, where it said it.
    package struct Item: Sendable {
        package let event: Conversations.Event
        package let source: String?
    }

    private struct Incoming: Decodable {
        let type: String
        let user: String?
        let offsets: [String: Int]?
        let message: Message?
        let messages: [Message]?
        let lastOffset: Int?
        let ref: String?
    }

    private struct Asking: Encodable {
        let type = "history"
        let conversation: String
        let after: Int
        /// The conversation again: answers don't name it.
        let ref: String
    }

    private let session: LinkSession
    private var heard: HeardOffsets
    /// What a page brought at once.
    private var ready: [Item] = []

    init(_ session: LinkSession, after offsets: [UUID: Int]) {
        self.session = session
        heard = HeardOffsets(offsets)
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
            for missing in heard.connected(offsets) { await ask(missing.conversation, after: missing.after) }
        case "message":
            guard let message = incoming.message else { return }
            switch heard.take(message.conversation, message.offset) {
            case .hear: ready.append(Item(event: .message(message), source: source))
            case .ask(let after): await ask(message.conversation, after: after)
            case .repeated, .waits: return
            }
        case "history":
            guard let conversation = incoming.ref.flatMap(UUID.init(uuidString:)) else { return }
            let messages = incoming.messages ?? []
            let taken = heard.take(
                page: messages.map(\.offset), of: conversation, lastOffset: incoming.lastOffset ?? 0)
            for message in messages where taken.new.contains(message.offset) {
                ready.append(Item(event: .message(message), source: nil))
            }
            if let after = taken.after { await ask(conversation, after: after) }
        case "error":
            if let conversation = incoming.ref.flatMap(UUID.init(uuidString:)) { heard.refused(conversation) }
        default: return
        }
    }

    private func ask(_ conversation: UUID, after: Int) async {
        let id = conversation.uuidString
        guard let bytes = try? JSONEncoder().encode(Asking(conversation: id, after: after, ref: id)) else { return }
        // On this connection or not at all: the next one begins by asking for what is missing then.
        try? await session.send(.message(.text, Array(bytes)), waits: false)
    }
}
