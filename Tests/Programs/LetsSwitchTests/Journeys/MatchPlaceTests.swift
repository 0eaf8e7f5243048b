import Foundation
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// The places in a match's room.
@Suite struct MatchPlaceTests {
    private static func target(_ room: UUID, _ task: UUID) -> String {
        "\(ClientEndpoint.room(room))&taskId=\(task.uuidString)"
    }

    private func enter(_ task: RegisteredTask, at endpoint: ClientEndpoint) async throws -> WebSocketTestClient {
        let peer = try await WebSocketTestClient.connect(to: endpoint, Self.target(task.socketId, task.id))
        guard try await peer.nextMessage() == RoomMessages.handshake else {
            throw ClientFailure.violation("no handshake message")
        }
        return peer
    }

    @Test("Both tasks of a match always find a place in their room")
    func tasks() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.roomSize = 3 }
            let start = try await journey.instant(in: 3600)
            let ada = try await endpoint.register("ada", start, "History")
            let bob = try await endpoint.register("bob", start, "Maths")
            let (room, eva) = (ada.socketId, try await endpoint.register("eva", start, "Art"))
            try await journey.advance(to: start, -30)
            let stream = try await endpoint.reminders(of: "ada")
            _ = try await stream.nextReminder()
            // Ada's program takes all places, and those of its own task.
            let own = try await (0..<4).map { $0 }.asyncMap { _ in try await enter(ada, at: endpoint) }
            for target in [
                Self.target(room, ada.id), Self.target(room, UUID()), Self.target(room, eva.id),
                ClientEndpoint.room(room),
            ] {
                let refusal = try await WebSocketTestClient.refusal(at: endpoint, target)
                #expect(refusal.status == 409 && refusal.code == "room_full", "\(target)")
            }
            let peer = try await enter(bob, at: endpoint)
            try await peer.send(text: RoomMessages.ale(room))
            // A phone that lost its connection, and comes by the other door.
            let cable = try await CablePeer.welcomed(at: endpoint)
            let identifier = CablePeer.room(room, #","taskId":"\#(bob.id.uuidString)""#)
            try await cable.enter(identifier)
            try await peer.send(text: RoomMessages.ale(room))
            #expect(try await cable.receive() == CablePeer.ale(identifier))
            let stranger = CablePeer.room(room, #","taskId":"\#(UUID().uuidString)""#)
            let other = try await CablePeer.welcomed(at: endpoint)
            try await other.subscribe(stranger)
            #expect(try await other.receive() == CablePeer.rejection(stranger))
            for peer in own { await peer.close() }
        }
    }

    @Test("A cable connection takes one place in a room, even with many subscriptions")
    func onePlace() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                $0.matches.roomSize = 2
            }
            let room = UUID()
            let cable = try await CablePeer.welcomed(at: endpoint)
            func identifier(_ number: Int) -> String { CablePeer.room(room, #","n":\#(number)"#) }
            for number in 0..<10 { try await cable.enter(identifier(number)) }
            let socket = try await endpoint.enter(room)
            #expect(try await endpoint.status(of: room) == 409)
            for number in 0..<9 { try await cable.unsubscribe(identifier(number)) }
            try await cable.expectNothing()
            #expect(try await endpoint.status(of: room) == 409)
            try await cable.unsubscribe(identifier(9))
            try await eventually("the place is free") { try await endpoint.status(of: room) == 101 }
            await socket.close()
        }
    }
}
