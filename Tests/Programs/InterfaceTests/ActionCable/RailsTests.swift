import Access
import Foundation
import Glibc
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// Tests with independent implementations: Rails' server for comparison, and Rails' JavaScript with our server.
@Suite(.enabled(if: TestBroker.isWanted, "they need Rails: make interop-cable")) struct RailsTests {
    @Test(
        "Rails and this server answer the same dialogue with the same bytes",
        .enabled(if: RailsServer.isInstalled, "\(RailsServer.hint)"))
    func dialogue() async throws {
        let rails = try await RailsServer.start()
        try await Journey.run { journey in
            let ours = try await dialogue(with: try await journey.daemon { $0.matches.openRooms = true })
            let theirs = try await dialogue(with: rails.endpoint)
            #expect(ours == theirs)
            #expect(ours.count == 12)
        }
        try await rails.stop()
    }

    /// A dialogue of two clients in a room, as the messages that they receive.
    private func dialogue(with endpoint: ClientEndpoint) async throws -> [String] {
        var received: [String] = []
        let room = CablePeer.room(UUID(uuidString: "E866787E-12C7-4729-8F66-56AF8310A937") ?? UUID())
        // The same identifier with another order of members, and with spaces.
        let spaced = #"{"id" : "E866787E-12C7-4729-8F66-56AF8310A937", "channel" : "RoomChannel"}"#
        let bad = #"{"channel":"RoomChannel","id":"é\/ü"}"#
        let offer: TestHeaders = ["Sec-WebSocket-Protocol": "actioncable-v1-json, actioncable-unsupported"]
        let one = try await CablePeer.connect(to: endpoint, headers: offer)
        let other = try await CablePeer.connect(to: endpoint, headers: offer)
        for peer in [one, other] {
            received.append(peer.socket.handshake.headers["Sec-WebSocket-Protocol"] ?? "none")
            received.append(try await peer.receive())
        }
        try await one.subscribe(room)
        received.append(try await one.receive())
        try await other.subscribe(spaced)
        received.append(try await other.receive())
        for nonsense in ["nonsense", "{}", #"{"command":"dance","identifier":"x"}"#, CablePeer.message("{}", bad)] {
            try await one.socket.send(text: nonsense)
        }
        try await one.perform("ale", room)
        received.append(try await other.receive())
        try await other.perform("ale", spaced)
        received.append(try await one.receive())
        try await one.subscribe(bad)
        received.append(try await one.receive())
        try await other.unsubscribe(spaced)
        // Commands take effect in order, so the rejection shows that the unsubscription is complete.
        try await other.subscribe(bad)
        received.append(try await other.receive())
        try await other.subscribe(room)
        received.append(try await other.receive())
        let ping = try await one.socket.nextMessage().json()
        received.append("\(ping.object?.keys.sorted() ?? []) \(ping["type"].string ?? "")")
        return received
    }

    private func parameters(_ room: UUID) -> TestJSON {
        ["channel": "RoomChannel", "id": .string(room.uuidString)]
    }

    @Test(
        "Rails' JavaScript subscribes, performs and unsubscribes",
        .enabled(if: RailsClient.isInstalled, "\(RailsClient.hint)"))
    func client() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            let client = try await RailsClient(to: endpoint, "?deviceId=ada")
            try await client.subscribe("room", parameters(room))
            #expect(try await client.receive() == ["room", "connected"])
            try await client.subscribe("nowhere", ["channel": "RoomChannel"])
            #expect(try await client.receive() == ["nowhere", "rejected"])
            let peer = try await endpoint.enter(room)
            try await client.perform("room", "ale")
            #expect(try await peer.nextMessage() == RoomMessages.cheer)
            try await peer.send(text: RoomMessages.ale(room))
            #expect(try await client.receive() == ["room", "received", ["type": "aleResponse", "data": .object([:])]])
            try await client.perform("room", "dance")
            let error = try await client.receive()
            #expect(error[2]["type"] == "error" && error[2]["data"]["code"] == "unknown_action")
            // The same connection also has a channel of the device.
            try await client.subscribe("notifications", ["channel": "NotificationsChannel"])
            #expect(try await client.receive() == ["notifications", "connected"])
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("ada", start)
            let change = try await client.receive()
            #expect(change[0] == "notifications" && change[2]["type"] == "schedule")
            #expect(change[2]["data"] == ["startsAt": .string("\(start)")])
            try await client.unsubscribe("room")
            try await eventually("it has left") { try await MetricsReading(endpoint)["letsswitch_room_members"] == 1 }
        }
    }

    @Test(
        "Rails' JavaScript uses the channels of a device, a session and a conversation",
        .enabled(if: RailsClient.isInstalled, "\(RailsClient.hint)"))
    func channels() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let session = try await TestSession.make(at: endpoint)
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("d1", start, "First")
            try await journey.advance(to: start, -59)
            let client = try await RailsClient(to: endpoint, "?deviceId=d1")
            /// Returns the subscription's next message of this type.
            func receive(_ name: TestJSON, _ type: TestJSON) async throws -> TestJSON {
                while true {
                    let event = try await client.receive()
                    if event[0] == name, event[2]["type"] == type { return event[2]["data"] }
                }
            }
            try await client.subscribe("reminders", ["channel": "RemindersChannel"])
            #expect(try await client.receive() == ["reminders", "connected"])
            #expect(try await receive("reminders", "reminder")["title"] == "First")

            try await client.subscribe(
                "questions", ["channel": "QuestionsChannel", "session": .string(session.id.uuidString)])
            #expect(try await client.receive() == ["questions", "connected"])
            #expect(try await receive("questions", "session") == ["state": "open"])
            try await client.perform("questions", "ask", ["content": "Why?"])
            #expect(try await receive("questions", "questionResponse")["success"] == true)
            #expect(try await receive("questions", "question")["question"]["content"] == "Why?")

            try await client.subscribe(
                "pair", ["channel": "ConversationChannel", "id": .string(pair.uuidString), "after": 0])
            #expect(try await client.receive() == ["pair", "connected"])
            try await client.perform("pair", "speak", ["content": "Tea?"])
            #expect(try await receive("pair", "message")["content"] == "Tea?")
            try await endpoint.send(2, "Ale!", in: pair)
            #expect(try await receive("pair", "message")["content"] == "Ale!")
            try await client.perform("pair", "history", ["after": 0])
            #expect(try await receive("pair", "history")["lastOffset"] == 2)
        }
    }

    @Test(
        "Rails' JavaScript keeps its connection for a minute",
        .enabled(if: RailsClient.isInstalled, "\(RailsClient.hint)"))
    func minute() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            let client = try await RailsClient(to: endpoint)
            try await client.subscribe("room", parameters(room))
            #expect(try await client.receive() == ["room", "connected"])
            // The server's pings, one every three seconds, measure the time.
            let beside = try await CablePeer.welcomed(at: endpoint)
            for _ in 0..<21 { #expect(try await beside.socket.nextMessage().json()["type"] == "ping") }
            #expect(try await MetricsReading(endpoint)["letsswitch_websockets_opened_total"] == 2)
            try await beside.enter(CablePeer.room(room))
            try await beside.perform("ale", CablePeer.room(room))
            #expect(try await client.receive() == ["room", "received", ["type": "aleResponse", "data": .object([:])]])
        }
    }

    @Test(
        "Rails' JavaScript reconnects after a restart and after kill -9",
        .enabled(if: RailsClient.isInstalled, "\(RailsClient.hint)"), arguments: [SIGTERM, SIGKILL])
    func restart(signal: Int32) async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--open-rooms"])
            let client = try await RailsClient(to: endpoint)
            try await client.subscribe("room", parameters(UUID()))
            #expect(try await client.receive() == ["room", "connected"])
            await daemon.signal(signal)
            #expect(try await client.receive() == ["room", "disconnected", ["willAttemptReconnect": true]])
            _ = try await daemon.waitForExit()
            let again = try await journey.process(["--open-rooms", "--listen", endpoint.authority])
            // It waits for up to eight seconds, and longer the more often it has tried.
            #expect(try await client.receive(within: Deadline.standard + .seconds(30)) == ["room", "connected"])
            _ = try await again.daemon.terminate()
        }
    }

    @Test(
        "Rails' JavaScript doesn't reconnect after a refusal",
        .enabled(if: RailsClient.isInstalled, "\(RailsClient.hint)"))
    func unauthorized() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.tickets.areRequired = true }
            let client = try await RailsClient(to: endpoint, "?deviceId=ada")
            try await client.subscribe("reminders", ["channel": "RemindersChannel"])
            #expect(try await client.receive() == ["reminders", "disconnected", ["willAttemptReconnect": false]])
            // After this time the client would have tried to reconnect.
            try await client.outwaitReconnecting()
            let disconnects = #"letsswitch_cable_disconnects_total{reason="unauthorized"}"#
            #expect(try await MetricsReading(endpoint)[disconnects] == 1)
        }
    }
}
