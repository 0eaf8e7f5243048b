import Foundation
import JourneyTestSupport
import TestSupport

/// A user that sends one message after the other to any running daemon. A message without an answer is sent again with
/// the same id, or given up.
struct MessageSender: Sendable {
    enum Transport: CaseIterable {
        case request, socket, cable
    }

    private static let pause = Duration.milliseconds(5)

    let user: Int
    let conversation: UUID
    let world: TortureWorld
    let record: MessageRecord
    let transport: Transport

    func send(_ count: Int, _ random: SeededRandom) async {
        var random = random
        var last = 0
        for number in 0..<count {
            let (id, content) = (UUID(), "message \(number) of \(user)")
            // The first answer decides. If two daemons received the message, only one has stored it.
            while !Task.isCancelled {
                if let endpoint = await world.endpoint(using: &random) {
                    if (try? await send(content, id, at: endpoint, &last)) == true {
                        await record.wasAcknowledged(id, content)
                        break
                    }
                    await record.hadNoAnswer()
                    if Int.random(in: 0..<3, using: &random) == 0 {
                        await record.wasAbandoned(id, content)
                        break
                    }
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// - Parameter last: The offset of the last message that the user received.
    private func send(
        _ content: String, _ id: UUID, at endpoint: ClientEndpoint, _ last: inout Int
    ) async throws -> Bool {
        switch transport {
        case .request:
            let answer = try await endpoint.post(
                "/messages",
                [
                    "deviceId": "d\(user)", "content": .string(content), "id": .string(id.uuidString),
                    "conversation": .string(conversation.uuidString),
                ])
            return [200, 201].contains(answer.status)
        case .socket:
            let peer = try await ConversationPeer.connect(to: endpoint, "d\(user)")
            try await peer.send([
                "type": "send", "content": .string(content), "id": .string(id.uuidString),
                "conversation": .string(conversation.uuidString), "ref": "r",
            ])
            while true {
                let answer = try await peer.next()
                guard answer["ref"] == "r" else { continue }
                await peer.socket.close()
                return answer["type"] == "sent"
            }
        case .cable:
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=d\(user)")
            let identifier = #"{"channel":"ConversationChannel","id":"\#(conversation)","after":\#(last)}"#
            try await peer.enter(identifier)
            try await peer.socket.send(
                text: CablePeer.message(#"{"action":"speak","content":"\#(content)","id":"\#(id)"}"#, identifier))
            // The sender receives the message like every other subscriber. If it was stored before, it comes with the
            // missed messages.
            while true {
                let (type, data) = try await peer.receiveMessage(of: identifier)
                last = data["offset"].int ?? last
                guard type == "error" || data["id"].string == id.uuidString else { continue }
                await peer.socket.close()
                return type == "message"
            }
        }
    }
}
