import Access
import Domain
import Foundation
import Glibc
import JourneyTestSupport
import Rooms
import Server
import Settings
import TestSupport
import Testing

@testable import Matches

/// `/cable` with a raw client: the protocol, and rooms that are also used through `/socket`.
@Suite struct CableJourneyTests {
    @Test(
        "The server selects a known subprotocol, and needs none",
        arguments: [
            ("actioncable-v1-json, actioncable-unsupported", "actioncable-v1-json"), (nil, nil), ("chat", nil),
        ] as [(String?, String?)])
    func subprotocols(offered: String?, answered: String?) async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let headers: TestHeaders = offered.map { ["Sec-WebSocket-Protocol": $0] } ?? [:]
            let peer = try await CablePeer.welcomed(at: endpoint, headers: headers)
            #expect(peer.socket.handshake.headers["Sec-WebSocket-Protocol"] == answered)
            try await peer.enter(CablePeer.room(UUID()))
        }
    }

    @Test("A refused client gets the reason on the WebSocket")
    func refusals() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            #expect(try await endpoint.get("/cable").status == 426)
            let foreign = try await WebSocketTestClient.refusal(
                at: endpoint, "/cable", headers: ["Origin": "https://elsewhere.example"])
            #expect(foreign.status == 403 && foreign.code == "origin_not_allowed")
            let unsupported = try await CablePeer.connect(
                to: endpoint, headers: ["Sec-WebSocket-Protocol": "actioncable-unsupported"])
            #expect(unsupported.socket.handshake.headers["Sec-WebSocket-Protocol"] == "actioncable-unsupported")
            #expect(try await unsupported.receive() == CablePeer.disconnect("invalid_request"))
            _ = try await unsupported.socket.expectClose(1000)

            let strict = try await journey.daemon { $0.tickets.areRequired = true }
            let plain = try await CablePeer.connect(to: strict, "?deviceId=ada")
            #expect(try await plain.receive() == CablePeer.disconnect("unauthorized"))
            _ = try await plain.socket.expectClose(1000)
            // Without an identity the connection stays open, and channels that need one reject.
            let anonymous = try await CablePeer.welcomed(at: strict)
            let reminders = #"{"channel":"RemindersChannel"}"#
            try await anonymous.subscribe(reminders)
            #expect(try await anonymous.receive() == CablePeer.rejection(reminders))
        }
    }

    @Test(
        "Members by /socket and by /cable receive each other's ales"
    )
    func transports() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            let (one, other) = (CablePeer.room(room), CablePeer.room(room, #","also":1"#))
            let socket = try await endpoint.enter(room)
            let cable = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            try await cable.enter(one)
            let twice = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            try await twice.enter(one)
            try await twice.enter(other)
            #expect(try await MetricsReading(endpoint)["letsswitch_room_members"] == 4)

            try await socket.send(text: RoomMessages.ale(room))
            #expect(try await cable.receive() == CablePeer.ale(one))
            #expect(Set(try await [twice.receive(), twice.receive()]) == [CablePeer.ale(one), CablePeer.ale(other)])
            try await cable.perform("ale", one)
            #expect(try await socket.nextMessage() == RoomMessages.cheer)
            #expect(Set(try await [twice.receive(), twice.receive()]) == [CablePeer.ale(one), CablePeer.ale(other)])
            try await twice.perform("ale", other)
            #expect(try await socket.nextMessage() == RoomMessages.cheer)
            #expect(try await cable.receive() == CablePeer.ale(one))
            for peer in [cable, twice] { try await peer.expectNothing() }
            try await socket.expectNothing()

            try await twice.unsubscribe(one)
            try await twice.expectNothing()
            try await socket.send(text: RoomMessages.ale(room))
            #expect(try await twice.receive() == CablePeer.ale(other))
            try await twice.socket.closeHandshake()
            try await eventually("it has left") {
                try await MetricsReading(endpoint)["letsswitch_room_members"] == 2
            }
        }
    }

    @Test("A burst of ales with long identifiers arrives at the peer's pace")
    func bursts() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket { $0.matches.openRooms = true }
            let (room, count) = (UUID(), 1_800)
            let identifier = CablePeer.room(room, #","filler":"\#(String(repeating: "y", count: 900))""#)
            let cable = try await CablePeer.welcomed(at: endpoint)
            try await cable.enter(identifier)
            let (sender, listener) = (try await endpoint.enter(room), try await endpoint.enter(room))
            let ale = TestFrame(.text, RoomMessages.ale(room)).bytes()
            try await sender.connection.send((0..<count).flatMap { _ in ale })
            for _ in 0..<count { #expect(try await listener.nextMessage() == RoomMessages.cheer) }
            for _ in 0..<count { #expect(try await cable.receive() == CablePeer.ale(identifier)) }
            try await cable.perform("ale", identifier)
            #expect(try await listener.nextMessage() == RoomMessages.cheer)
            try await cable.expectNothing()
            #expect(try await MetricsReading(endpoint)["letsswitch_cable_ales_left_out_total"] == 0)
        }
    }

    @Test("Waiting ales are added up by kind, up to two thousand each")
    func waitingAles() {
        var waiting = WaitingAles()
        #expect(waiting.add(0, of: .plain) == 0)
        #expect(waiting.isEmpty)
        #expect(waiting.add(1_500, of: .plain) == 0)
        #expect(waiting.add(1_500, of: .plain) == 1_000)
        #expect(waiting.add(3, of: .fire) == 0)
        #expect(waiting.take(5, of: .fire) == 3)
        #expect(waiting.take(5, of: .fire) == 0)
        #expect(waiting.first == .plain)
        // Takes at least one frame, even if the frame is longer than what may be sent at once.
        #expect(waiting.take(0, of: .plain) == 1)
        #expect(waiting.take(3_000, of: .plain) == 1_999)
        #expect(waiting.isEmpty)
    }

    @Test("Commands of an identifier take effect in order")
    func order() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            let identifier = CablePeer.room(room)
            let listener = try await CablePeer.welcomed(at: endpoint)
            try await listener.enter(identifier)
            let peer = try await CablePeer.welcomed(at: endpoint)
            let ale = CablePeer.message(#"{"action":"ale"}"#, identifier)
            let frames = [
                CablePeer.command("subscribe", identifier), CablePeer.command("subscribe", identifier), ale, ale,
                CablePeer.command("unsubscribe", identifier), ale, CablePeer.command("subscribe", identifier), ale,
            ]
            let bytes = frames.enumerated().flatMap { index, text in
                (index % 2 == 0 ? TestFrame(.text, text) : TestFrame(.binary, Array(text.utf8))).bytes()
            }
            try await peer.socket.connection.send(bytes)
            // The client has unsubscribed, so it doesn't get the first confirmation.
            #expect(try await peer.receive() == CablePeer.confirmation(identifier))
            for _ in 0..<3 { #expect(try await listener.receive() == CablePeer.ale(identifier)) }
            try await peer.subscribe(identifier)
            #expect(try await peer.receive() == CablePeer.confirmation(identifier))
            for listening in [listener, peer] { try await listening.expectNothing() }
        }
    }

    @Test("An impossible subscription is rejected, and an impossible command gets an error")
    func rejections() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            let long = CablePeer.room(UUID(), #","x":"\#(String(repeating: "x", count: 1024))""#)
            for identifier in [
                #"{"channel":"NoSuchChannel"}"#, #"{"channel":"roomchannel"}"#, "{}", #"{"channel":7}"#,
                #"{"channel":"RoomChannel"}"#, #"{"channel":"RoomChannel","id":"7"}"#, CablePeer.room(UUID()), long,
                #"{"channel":"RemindersChannel","deviceId":""}"#,
            ] {
                try await peer.subscribe(identifier)
                #expect(try await peer.receive() == CablePeer.rejection(identifier))
            }
            let reminders = #"{"channel":"RemindersChannel"}"#
            try await peer.enter(reminders)
            for (data, code) in [
                (#"{"action":"dance"}"#, "unknown_action"), ("{}", "unknown_action"), ("[]", "invalid_request"),
                (#"{"action":7}"#, "invalid_request"),
            ] {
                try await peer.socket.send(text: CablePeer.message(data, reminders))
                let error = try await peer.receiveMessage(of: reminders)
                #expect(error.type == "error" && error.data["code"].string == code)
                #expect(error.data["reason"].string?.isEmpty == false)
            }
            for data in ["", #","data":{"action":"dance"}"#, #","data":7"#, #","data":null"#] {
                try await peer.socket.send(
                    text: #"{"command":"message","identifier":\#(CablePeer.quoted(reminders))\#(data)}"#)
                let error = try await peer.receiveMessage(of: reminders)
                #expect(error.type == "error" && error.data["code"] == "invalid_request", "\(data)")
            }
            #expect(try await MetricsReading(endpoint)["letsswitch_cable_rejected_total"] == 9)
        }
    }

    @Test("Thirty invalid frames are counted and don't close the connection")
    func nonsense() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let identifier = CablePeer.room(UUID())
            let (peer, listener) = (
                try await CablePeer.welcomed(at: endpoint), try await CablePeer.welcomed(at: endpoint)
            )
            try await listener.enter(identifier)
            let texts = [
                "", "x", "[]", "7", "null", "{", "{}", #"{"command":"subscribe"}"#, #"{"command":7}"#,
                CablePeer.command("dance", identifier), CablePeer.command("subscribe", "x"),
                CablePeer.command("subscribe", "[]"), CablePeer.command("unsubscribe", identifier),
                CablePeer.message("{}", identifier), #"{"command":"subscribe","identifier":{}}"#,
            ]
            for text in texts {
                try await peer.socket.send(text: text)
                try await peer.socket.send(binary: Array(text.utf8))
            }
            try await peer.enter(identifier)
            let metrics = try await MetricsReading(endpoint)
            let reasons = ["no_object", "unknown_command", "no_identifier", "not_subscribed"]
            let counts = reasons.map { metrics[#"letsswitch_cable_ignored_total{reason="\#($0)"}"#] }
            #expect(counts == [12, 6, 8, 4])
            // The other members receive nothing.
            try await listener.expectNothing()
        }
    }

    @Test("A message has at most 32,768 bytes, and a connection at most a hundred subscriptions")
    func limits() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let peer = try await CablePeer.welcomed(at: endpoint)
            let identifiers = (0..<101).map { _ in CablePeer.room(UUID()) }
            for identifier in identifiers.dropLast() { try await peer.enter(identifier) }
            let last = identifiers[100]
            try await peer.subscribe(last)
            #expect(try await peer.receive() == CablePeer.rejection(last))
            try await peer.unsubscribe(identifiers[0])
            let frame = CablePeer.command("subscribe", last)
            try await peer.socket.send(text: frame + String(repeating: " ", count: 32_768 - frame.utf8.count))
            #expect(try await peer.receive() == CablePeer.confirmation(last))
            try await peer.socket.send(text: String(repeating: " ", count: 32_769))
            _ = try await peer.socket.expectClose(1009)
        }
    }

    @Test("A device that sends too much over all its connections is disconnected")
    func rate() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.cable.messageRate = 1 }
            let (one, other) = (
                try await CablePeer.welcomed(at: endpoint, "?deviceId=ada"),
                try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            )
            let frame = TestFrame(.text, "{}").bytes()
            try await one.socket.connection.send((0..<5).flatMap { _ in frame })
            try await one.expectNothing()
            try await other.socket.connection.send((0..<60).flatMap { _ in frame })
            _ = try await other.socket.expectClose(1008)
        }
    }

    @Test("64 commands may wait for the welcome")
    func early() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let command = TestFrame(.text, CablePeer.command("subscribe", CablePeer.room(UUID()))).bytes()
            for (count, answer) in [(64, #"{"type":"welcome"}"#), (65, CablePeer.disconnect("invalid_request"))] {
                let connection = try await RawConnection.connect(to: endpoint)
                let head = [
                    "GET /cable HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade",
                    "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
                ]
                try await connection.send(
                    Array(head.joined(separator: "\r\n").utf8) + (0..<count).flatMap { _ in command })
                _ = try await connection.receiveUntil("\r\n\r\n", limit: 4096)
                let frame = try await connection.receiveExactly(2 + answer.utf8.count)
                #expect(String(decoding: frame.dropFirst(2), as: UTF8.self) == answer)
            }
        }
    }

    @Test("SIGTERM sends a disconnect with reconnect, then 1001")
    func restart() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--open-rooms"])
            let peer = try await CablePeer.welcomed(at: endpoint)
            try await peer.enter(CablePeer.room(UUID()))
            await daemon.signal(SIGTERM)
            #expect(try await peer.receive() == CablePeer.disconnect("server_restart", reconnect: true))
            _ = try await peer.socket.expectClose(1001)
            #expect(try await daemon.waitForExit() == .exited(0))
        }
    }

    @Test("An erased device loses its connections and subscriptions")
    func erasure() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let ada = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            let bob = try await CablePeer.welcomed(at: endpoint, "?deviceId=bob")
            let (hers, his) = (CablePeer.room(UUID(), #","deviceId":"ada""#), CablePeer.room(UUID()))
            for identifier in [hers, his] { try await bob.enter(identifier) }
            #expect(try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=ada").status == 200)
            #expect(try await ada.receive() == CablePeer.disconnect("remote"))
            _ = try await ada.socket.expectClose(1000)
            #expect(try await bob.receive() == CablePeer.rejection(hers))
            try await bob.expectNothing()
            #expect(try await MetricsReading(endpoint)["letsswitch_room_members"] == 1)
        }
    }

    @Test("Database queries of a cable count against the request limit of its address")
    func purse() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.limits.requestRate = 1
                $0.limits.addressBurst = .seconds(10)
            }
            // A client behind a proxy, because limits per address don't apply to this machine itself.
            let peer = try await CablePeer.welcomed(at: endpoint, headers: ["X-Forwarded-For": "203.0.113.7"])
            // Measured with the real clock. A slow machine can only make the time longer.
            let start = ContinuousClock.now
            for _ in 0..<13 { try await peer.subscribe(CablePeer.room(UUID())) }
            // No command is refused. Commands of a client that is too fast wait.
            for _ in 0..<13 { #expect(try await peer.receive().hasSuffix(#""type":"reject_subscription"}"#)) }
            #expect(ContinuousClock.now - start > .seconds(2))
        }
    }

    @Test("Pings are sent every three seconds, the first within three")
    func pings() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let peer = try await CablePeer.welcomed(at: endpoint)
            for _ in 0..<2 {
                let ping = try await peer.socket.nextMessage().json()
                #expect(ping["type"] == "ping" && ping.object?.count == 2)
                let seconds = try #require(ping["message"].int)
                #expect(abs(Double(seconds) - Date().timeIntervalSince1970) < 60)
            }
        }
    }
}
