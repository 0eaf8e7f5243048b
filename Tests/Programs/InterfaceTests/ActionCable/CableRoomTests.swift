import Access
import Foundation
import JourneyTestSupport
import Matches
import Rooms
import Server
import Settings
import TestSupport
import Testing

/// Room members connected through Action Cable, and their limit.
@Suite struct CableRoomTests {
    @Test("A client that asks for presence gets the member count after each change")
    func presence() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            let identifier = CablePeer.room(room, #","presence":true"#)
            let peer = try await CablePeer.welcomed(at: endpoint)
            try await peer.enter(identifier)
            var presence = try await peer.receiveMessage(of: identifier)
            #expect(presence.type == "presence" && presence.data == ["count": 1])
            let other = try await endpoint.enter(room)
            presence = try await peer.receiveMessage(of: identifier)
            #expect(presence.type == "presence" && presence.data == ["count": 2])
            // A member that closed its connection has left, perhaps before that is reported.
            try await other.closeHandshake()
        }
    }

    @Test(
        "A client that subscribes during many ales gets the presence first")
    func presenceFirst() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                $0.limits.messageRate = 0
            }
            for _ in 0..<12 {
                let room = UUID()
                let identifier = CablePeer.room(room, #","presence":true"#)
                let (sender, ale) = (try await endpoint.enter(room), TestFrame(.text, RoomMessages.ale(room)).bytes())
                let pouring = Task { while !Task.isCancelled { try await sender.connection.send(ale) } }
                let peer = try await CablePeer.welcomed(at: endpoint)
                // The test's clock can't show more than the real pause: it starts after the command was sent, and stops
                // before the message comes.
                let start = ContinuousClock.now
                try await peer.enter(identifier)
                #expect(try await peer.receiveMessage(of: identifier).type == "presence")
                #expect(ContinuousClock.now - start >= .milliseconds(50))
                #expect(try await peer.receiveMessage(of: identifier).type == "aleResponse")
                pouring.cancel()
                _ = await pouring.result
                for socket in [peer.socket, sender] { await socket.close() }
            }
        }
    }

    @Test("Entering rooms counts against the request rate of the address")
    func rate() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                ($0.limits.requestRate, $0.limits.addressBurst) = (1, .seconds(3))
            }
            let peer = try await CablePeer.welcomed(at: endpoint, headers: ["X-Forwarded-For": "203.0.113.7"])
            for _ in 0..<50 { try await peer.subscribe(CablePeer.room(UUID())) }
            var confirmed = 0
            // The server pings every three seconds.
            while case .text(let text) = try await peer.socket.nextMessage(), !text.hasPrefix(#"{"type":"ping""#) {
                confirmed += 1
            }
            // All of them take 47 seconds.
            #expect((3..<50).contains(confirmed))
        }
    }

    @Test("The room size limit counts members by /socket and by /cable together")
    func roomSize() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                $0.matches.roomSize = 2
            }
            let room = UUID()
            let identifier = CablePeer.room(room)
            let socket = try await endpoint.enter(room)
            let (peer, late) = (
                try await CablePeer.welcomed(at: endpoint), try await CablePeer.welcomed(at: endpoint)
            )
            try await peer.enter(identifier)
            try await late.subscribe(identifier)
            #expect(try await late.receive() == CablePeer.rejection(identifier))
            #expect(try await endpoint.status(of: room) == 409)
            try await peer.unsubscribe(identifier)
            try await peer.expectNothing()
            try await eventually("there is a place") {
                try await MetricsReading(endpoint)["letsswitch_room_members"] == 1
            }
            try await late.enter(identifier)
            try await socket.send(text: RoomMessages.ale(room))
            #expect(try await late.receive() == CablePeer.ale(identifier))
        }
    }
}
