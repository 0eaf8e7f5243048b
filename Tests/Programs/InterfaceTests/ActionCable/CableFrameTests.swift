import Foundation
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// The frames that Action-Cable-Swift sends and needs: it offers no subprotocol, and sends text or binary.
@Suite struct CableFrameTests {
    /// Returns the payloads of a message's frames.
    private func frames(of peer: CablePeer) async throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while true {
            let frame = try await peer.socket.nextFrame()
            guard !frame.opcode.isControl else { continue }
            #expect(frame.opcode == (frames.isEmpty ? .text : .continuation))
            frames.append(frame.payload)
            if frame.isFinal { return frames }
        }
    }

    @Test("A client subscribes and sends in text and in binary")
    func commands() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let peer = try await CablePeer.welcomed(at: endpoint)
            #expect(peer.socket.handshake.headers["Sec-WebSocket-Protocol"] == nil)
            let rooms = [UUID(), UUID()]
            let listeners = [try await endpoint.enter(rooms[0]), try await endpoint.enter(rooms[1])]
            // Action-Cable-Swift's encoder writes members in any order, and escapes slashes.
            let identifiers = rooms.map { #"{"id":"\#($0)","channel":"RoomChannel","path":"a\/b"}"# }
            for (identifier, isBinary) in zip(identifiers, [true, false]) {
                let text = #"{"identifier":\#(CablePeer.quoted(identifier)),"command":"subscribe"}"#
                try await peer.socket.send(TestFrame(isBinary ? .binary : .text, text))
                #expect(try await peer.receive() == CablePeer.confirmation(identifier))
            }
            for (identifier, listener) in zip(identifiers, listeners) {
                let text = CablePeer.message(#"{"action":"ale"}"#, identifier)
                for opcode in [TestFrame.Opcode.text, .binary] {
                    try await peer.socket.send(TestFrame(opcode, text))
                    #expect(try await listener.nextMessage() == RoomMessages.cheer)
                }
                try await listener.send(text: RoomMessages.ale(rooms[identifier == identifiers[0] ? 0 : 1]))
                #expect(try await peer.receive() == CablePeer.ale(identifier))
            }
        }
    }

    @Test("A message longer than 32,768 bytes is sent in three frames")
    func fragments() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            try await journey.sql(
                """
                INSERT INTO questions.question (id, session_id, number, content, state, asked_from, created_at, version)
                SELECT gen_random_uuid(), '\(session.id)', n, repeat('ü', 700), 'approved', gen_random_uuid(), now(), n
                FROM generate_series(1, 100) AS n
                """)
            // Quotation marks are escaped once more for each string that they are in.
            let filler = String(repeating: #"\""#, count: 460)
            let identifier = #"{"channel":"QuestionsChannel","session":"\#(session.id)","filler":"\#(filler)"}"#
            let peer = try await CablePeer.welcomed(at: endpoint)
            try await peer.enter(identifier)
            while true {
                let frames = try await frames(of: peer)
                let message = try TestJSON(parsing: Array(frames.joined()))
                guard message["message"]["type"] == "questions" else {
                    #expect(frames.count == 1)
                    continue
                }
                #expect(message["identifier"].string == identifier)
                #expect(frames.count == 3 && frames.map(\.count).prefix(2) == [16_384, 16_384])
                #expect((1...16_384).contains(try #require(frames.last).count))
                break
            }
        }
    }
}
