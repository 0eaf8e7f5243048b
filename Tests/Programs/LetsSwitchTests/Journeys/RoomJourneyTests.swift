import Foundation
import JourneyTestSupport
import Matches
import Rooms
import Server
import Settings
import TestSupport
import Testing

@Suite struct RoomJourneyTests {
    @Test("With --open-rooms any UUID is a room")
    func openRooms() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let rooms = (0..<8).map { _ in UUID() }
            let peers = try await rooms.asyncMap { room in
                [try await endpoint.enter(room), try await endpoint.enter(room)]
            }
            for (room, pair) in zip(rooms, peers) { try await pair[0].send(text: RoomMessages.ale(room)) }
            for pair in peers { #expect(try await pair[1].nextMessage() == RoomMessages.cheer) }
            for peer in peers.joined() { try await peer.expectNothing() }
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics["letsswitch_rooms"] == 8 && metrics["letsswitch_room_members"] == 16)
            #expect(try await endpoint.get("/socket?id=nonsense").status == 400)
        }
    }

    @Test("Without --open-rooms only matched UUIDs are rooms")
    func closedByDefault() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let room = UUID()
            // The app reconnects at once after each refusal.
            for _ in 0..<50 { #expect(try await endpoint.status(of: room) == 404) }
            #expect(try await MetricsReading(endpoint)[#"letsswitch_http_responses_total{status="404"}"#] == 50)
        }
    }

    @Test("A full room has a free place after any kind of departure")
    func size() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                $0.matches.roomSize = 3
            }
            let room = UUID()
            let peers = try await (0..<3).map { $0 }.asyncMap { _ in try await endpoint.enter(room) }
            let refused = try await WebSocketTestClient.refusal(at: endpoint, ClientEndpoint.room(room))
            #expect(refused.status == 409 && refused.code == "room_full")
            let turnedAway = #"letsswitch_turned_away_total{cause="room-size"}"#
            #expect(try await MetricsReading(endpoint)[turnedAway] == 1)
            try await peers[0].closeHandshake()
            let fourth = try await endpoint.enter(room)
            // The connection is closed without a close handshake.
            await peers[1].close()
            let deadline = ContinuousClock.now + Deadline.standard
            var fifth: WebSocketTestClient?
            while fifth == nil {
                try #require(ContinuousClock.now < deadline)
                do { fifth = try await endpoint.enter(room) } catch is UpgradeRefused { continue }
            }
            try await fourth.send(binary: Array(RoomMessages.ale(room).utf8))
            #expect(try await peers[2].nextMessage() == RoomMessages.cheer)
            #expect(try await fifth?.nextMessage() == RoomMessages.cheer)
            #expect(try await MetricsReading(endpoint)["letsswitch_room_members"] == 3)
        }
    }

    @Test(
        "An ale with a kind is received with it on every transport")
    func kinds() async throws {
        try await Journey.run { journey in
            let endpoints = [
                try await journey.daemon { $0.matches.openRooms = true },
                try await journey.daemon { $0.matches.openRooms = true },
            ]
            let room = UUID()
            let ada = try await WebSocketTestClient.connect(
                to: endpoints[0], "\(ClientEndpoint.room(room))&presence=true")
            let bob = try await endpoints[0].enter(room)
            let cem = try await endpoints[1].enter(room)
            let dan = try await CablePeer.welcomed(at: endpoints[0])
            let identifier = CablePeer.room(room)
            try await dan.enter(identifier)
            // At a count of 4 Ada's daemon knows of the member on the other daemon.
            var there = 0
            while there != 4 { there = try await ada.nextMessage().json()["data"]["count"].int ?? 0 }
            func expect(_ kind: String?) async throws {
                let expected = kind.map { #"{"type":"aleResponse","kind":"\#($0)"}"# } ?? #"{"type":"aleResponse"}"#
                for peer in [bob, cem] { #expect(try await peer.nextMessage() == .binary(Array(expected.utf8))) }
                let (type, data) = try await dan.receiveMessage(of: identifier)
                #expect(type == "aleResponse" && data["kind"].string == kind)
            }
            for (kind, received) in [("clap", "clap"), ("fire", "fire"), ("beer", nil)] as [(String, String?)] {
                try await ada.send(text: #"{"type":"ale","id":"\#(room.uuidString)","kind":"\#(kind)"}"#)
                try await expect(received)
            }
            try await dan.socket.send(text: CablePeer.message(#"{"action":"ale","kind":"heart"}"#, identifier))
            for peer in [ada, bob, cem] {
                #expect(
                    try await peer.nextMessage() == .binary(Array(#"{"type":"aleResponse","kind":"heart"}"#.utf8)))
            }
            try await ada.expectNothing()
        }
    }

    @Test("A burst of ales reaches every member completely")
    func burst() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                $0.limits.messageRate = 0
            }
            let room = UUID()
            let peers = try await (0..<10).map { $0 }.asyncMap { _ in try await endpoint.enter(room) }
            let ale = TestFrame(.text, RoomMessages.ale(room))
            try await peers[0].connection.send((0..<200).flatMap { _ in ale.bytes() })
            for peer in peers.dropFirst() {
                for _ in 0..<200 { #expect(try await peer.nextMessage() == RoomMessages.cheer) }
            }
            for peer in peers { try await peer.expectNothing() }
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics["letsswitch_messages_received_total"] == 200)
            #expect(metrics["letsswitch_messages_sent_total"] == Double(200 * 9 + 10))
        }
    }

    @Test(
        "Each member receives all ales except its own"
    )
    func everybodyCheers() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                $0.limits.messageRate = 0
            }
            let room = UUID()
            let ale = TestFrame(.text, RoomMessages.ale(room))
            var peers = try await (0..<6).map { $0 }.asyncMap { _ in try await endpoint.enter(room) }
            for round in 1...20 {
                let counts = peers.indices.map { ($0 + round) % 4 }
                let leaving = try await endpoint.enter(room)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (peer, count) in zip(peers, counts) {
                        let bytes = (0..<count).flatMap { _ in ale.bytes() }
                        group.addTask { try await peer.connection.send(bytes) }
                    }
                    // The ale and the close frame are sent in one piece.
                    group.addTask { try await leaving.connection.send(ale.bytes() + TestFrame.close(1000).bytes()) }
                    try await group.waitForAll()
                }
                let total = counts.reduce(1, +)
                for (peer, own) in zip(peers, counts) {
                    for _ in 0..<(total - own) { #expect(try await peer.nextMessage() == RoomMessages.cheer) }
                }
                for peer in peers { try await peer.expectNothing() }
                await leaving.close()
                peers[round % peers.count] = try await endpoint.enter(room)
            }
        }
    }

    @Test("Messages are echoed only with --echo")
    func echo() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.echo = true }
            let peer = try await WebSocketTestClient.connect(to: endpoint, "/echo")
            for message in ["", "héllo", String(repeating: "x", count: 4000)] {
                try await peer.send(text: message)
                #expect(try await peer.nextMessage() == .text(message))
                try await peer.send(binary: Array(message.utf8))
                #expect(try await peer.nextMessage() == .binary(Array(message.utf8)))
            }
            try await peer.send(fragments: [[1], [], [2, 3]], as: .binary)
            #expect(try await peer.nextMessage() == .binary([1, 2, 3]))
            // The message is longer than --max-message-bytes.
            try await peer.send(binary: [UInt8](repeating: 0, count: 4097))
            try await peer.expectClose(1009)
            let python = try await PythonWebSocketClient.connect(to: endpoint, "/echo", compression: true)
            try await python.send(text: "as it came")
            #expect(try await python.nextMessage() == .text("as it came"))
            #expect(try await python.close(4001, "done").code == 4001)

            let plain = try await journey.daemon()
            let refused = try await WebSocketTestClient.refusal(at: plain, "/echo")
            #expect(refused.status == 404)
        }
    }

    @Test("A room closes by the database's clock, even if it is set back")
    func clockPutBack() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 600)
            let room = try await endpoint.pair("ada", "bob", start)
            try await journey.advance(to: start, -30)
            _ = try await endpoint.reminders(of: "ada").nextReminder()
            let peer = try await endpoint.enter(room)
            let looks = #"letsswitch_db_query_seconds_count{name="next_due"}"#
            let before = try await MetricsReading(endpoint)[looks]
            try await journey.advance(to: start, 3599)
            _ = try await MetricsReading.wait(at: endpoint) { $0[looks] > before }
            // The clock is set back without a notification. By the daemon's last reading the room closes within a
            // second.
            try await journey.move(by: -100)
            try await Task.sleep(for: .seconds(1.5))
            try await peer.expectNothing()
            #expect(try await endpoint.status(of: room) == 101)
            try await journey.advance(to: start, 3600)
            try await peer.expectClose(1000)
            #expect(try await endpoint.status(of: room) == 410)
        }
    }

    @Test("A room that a daemon knows only from the database closes like any other")
    func foundOpen() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 600)
            let room = try await endpoint.pair("ada", "bob", start)
            // Simulates a claim by another daemon whose notification was lost, so this daemon doesn't know of the open
            // room.
            try await journey.move(by: 1_000)
            try await journey.sql("DELETE FROM schedule.due")
            let peer = try await endpoint.enter(room)
            try await journey.advance(to: start, 3600)
            try await peer.expectClose(1000)
            #expect(try await endpoint.status(of: room) == 410)
        }
    }
}
