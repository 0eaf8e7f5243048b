import Foundation
import JourneyTestSupport
import TestSupport

/// A subscriber of a conversation over one transport, at any running daemon. It resumes after the last message that it
/// received.
struct MessageReceiver: Sendable {
    enum Transport: CaseIterable {
        case socket, stream, cable
    }

    private static let pause = Duration.milliseconds(5)
    /// Longer than any time without messages.
    private static let timeout = Duration.seconds(3600)

    let transport: Transport
    let conversation: UUID
    let world: TortureWorld
    let record: MessageRecord

    /// Listens until it is cancelled.
    func receive(_ random: SeededRandom) async {
        var random = random
        var last = 0
        while !Task.isCancelled {
            if let endpoint = await world.endpoint(using: &random) {
                // Reconnects, whatever ended the connection.
                try? await follow(endpoint, &last)
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func follow(_ endpoint: ClientEndpoint, _ last: inout Int) async throws {
        switch transport {
        case .socket:
            let peer = try await ConversationPeer.connect(to: endpoint, "d1", after: [conversation: last])
            await record.wasConnected()
            while true {
                let message = try await peer.socket.nextMessage(within: Self.timeout).json()
                if message["type"] == "message" { await receive(message["message"], &last) }
            }
        case .stream:
            let stream = try await EventStreamTestClient.connect(
                to: endpoint, "/messages?deviceId=d2&after=\(conversation):\(last)")
            await record.wasConnected()
            while true {
                let event = try await stream.nextEvent(within: Self.timeout)
                if event.event == "message" { await receive(try event.json()["message"], &last) }
            }
        case .cable:
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=d3")
            try await peer.enter(#"{"channel":"ConversationChannel","id":"\#(conversation)","after":\#(last)}"#)
            await record.wasConnected()
            while true {
                let text = try await peer.receive(within: Self.timeout)
                let message = try TestJSON(parsing: Array(text.utf8))["message"]
                if message["type"] == "message" { await receive(message["data"], &last) }
            }
        }
    }

    private func receive(_ message: TestJSON, _ last: inout Int) async {
        guard let offset = message["offset"].int, let id = message["id"].string.flatMap(UUID.init(uuidString:)),
            let content = message["content"].string
        else { return await record.object("\(transport) received \(message)") }
        last = offset
        await record.wasReceived(MessageRecord.Message(offset: offset, id: id, content: content), by: transport)
    }
}
