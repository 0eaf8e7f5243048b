import Access
import Foundation
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// Tickets on `/cable`.
@Suite struct CableTicketTests {
    @Test(
        "An invalid ticket is refused on the WebSocket")
    func invalid() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.tickets = TestTickets.own.settings }
            let reminders = #"{"channel":"RemindersChannel"}"#
            for ticket in [
                "ada", "a.b.c", try TestTickets.foreign.ticket(), try TestTickets.own.ticket(lifetime: -60),
            ] {
                let peer = try await CablePeer.connect(to: endpoint, "?token=\(ticket)")
                #expect(try await peer.receive() == CablePeer.disconnect("unauthorized"), "\(ticket)")
                _ = try await peer.socket.expectClose(1000)
            }
            let ticket = try TestTickets.own.ticket()
            for (query, headers) in [("?token=\(ticket)", [:]), ("", ["Authorization": "Bearer \(ticket)"])]
                as [(String, TestHeaders)]
            {
                let peer = try await CablePeer.welcomed(at: endpoint, query, headers: headers)
                try await peer.enter(reminders)
            }
            let anonymous = try await CablePeer.welcomed(at: endpoint)
            try await anonymous.subscribe(reminders)
            #expect(try await anonymous.receive() == CablePeer.rejection(reminders))
        }
    }

    @Test("The connection ends once when its ticket expires")
    func expiry() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.matches.openRooms = true
            }
            let (conversation, session) = (
                try await openConversation(at: endpoint), try await TestSession.make(at: endpoint).id
            )
            let identifiers =
                [CablePeer.room(UUID()), #"{"channel":"RemindersChannel"}"#]
                + (0..<4).flatMap { number in
                    [
                        #"{"channel":"QuestionsChannel","session":"\#(session)","n":\#(number)}"#,
                        #"{"channel":"ConversationChannel","id":"\#(conversation)","n":\#(number)}"#,
                    ]
                }
            // The ticket must be valid long enough to connect, also on a busy machine.
            for lifetime in [2, 8, 32] {
                let ticket = try TestTickets.own.ticket(lifetime: lifetime)
                let peer = try await CablePeer.connect(to: endpoint, "?token=\(ticket)")
                let greeting = try await peer.receive()
                if greeting == CablePeer.disconnect("unauthorized") { continue }
                #expect(greeting == #"{"type":"welcome"}"#)
                for identifier in identifiers { try await peer.subscribe(identifier) }
                var received: [String] = []
                repeat {
                    received.append(try await peer.receive())
                } while !received[received.count - 1].contains("disconnect")
                #expect(received.last == CablePeer.disconnect("token_expired"))
                _ = try await peer.socket.expectClose(1000)
                for identifier in identifiers { #expect(!received.contains(CablePeer.rejection(identifier))) }
                if identifiers.allSatisfy({ received.contains(CablePeer.confirmation($0)) }) { return }
            }
            Issue.record("No ticket was good for long enough.")
        }
    }

    /// Opens a conversation of Ada's.
    private func openConversation(at endpoint: ClientEndpoint) async throws -> String {
        for name in ["ada", "bob"] as [TestJSON] {
            #expect(try await endpoint.post("/users", ["deviceId": name, "name": name]).status == 201)
        }
        let opened = try await endpoint.post("/conversations", ["deviceId": "ada", "participants": ["bob"]])
        return try #require(try opened.json()["id"].string)
    }

    @Test("Where tickets are required, an identifier can't name another device")
    func named() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.tickets.areRequired = true
                $0.matches.openRooms = true
            }
            let plain = try await CablePeer.welcomed(at: endpoint)
            let ticketed = try await CablePeer.welcomed(at: endpoint, "?token=\(try TestTickets.own.ticket())")
            let (hers, his) = (
                #"{"channel":"RemindersChannel","deviceId":"ada"}"#, #"{"channel":"RemindersChannel","deviceId":"bob"}"#
            )
            for (peer, refused) in [
                (plain, [hers, CablePeer.room(UUID(), #","deviceId":"ada""#)]),
                (ticketed, [his, CablePeer.room(UUID(), #","deviceId":"bob""#)]),
            ] {
                for identifier in refused {
                    try await peer.subscribe(identifier)
                    #expect(try await peer.receive() == CablePeer.rejection(identifier))
                }
            }
            try await ticketed.enter(hers)
        }
    }

    @Test(
        "A ticket by PyJWT is valid with either of two secrets",
        .enabled(if: PythonPackages.ofTests.areInstalled, Comment(rawValue: PythonPackages.ofTests.hint)))
    func rotation() async throws {
        let program = """
            import json, sys, time, jwt
            claims = {"sub": "ada", "exp": int(time.time()) + 3600}
            keys = json.loads(sys.stdin.readline())["keys"]
            print(json.dumps([jwt.encode(claims, key, algorithm="HS256") for key in keys]), flush=True)
            """
        let keys = ["s", "t", "u"].map { TestJSON.string(String(repeating: $0, count: 40)) }
        let made = try await PythonPackages.ofTests.run(program, ["keys": .array(keys)])
        let tokens = try #require(made.array).compactMap(\.string)
        try #require(tokens.count == 3)
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.tickets.secrets += TestTickets.foreign.settings.secrets
            }
            for token in tokens.prefix(2) {
                try await CablePeer.welcomed(at: endpoint, "?token=\(token)").enter(#"{"channel":"RemindersChannel"}"#)
            }
            let refused = try await CablePeer.connect(to: endpoint, "?token=\(tokens[2])")
            #expect(try await refused.receive() == CablePeer.disconnect("unauthorized"))
        }
    }

    @Test("A ticket for one topic opens only the channels of that topic")
    func topics() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.matches.openRooms = true
            }
            let conversation = try await openConversation(at: endpoint)
            let session = try await TestSession.make(at: endpoint)
            let room = UUID()
            let places = [
                ("room:\(room)", CablePeer.room(room)), ("device:ada", #"{"channel":"RemindersChannel"}"#),
                ("device:ada", #"{"channel":"NotificationsChannel"}"#),
                ("questions:\(session.id)", #"{"channel":"QuestionsChannel","session":"\#(session.id)"}"#),
                ("conversation:\(conversation)", #"{"channel":"ConversationChannel","id":"\#(conversation)"}"#),
            ]
            for topic in Set(places.map(\.0)) {
                let ticket = try TestTickets.own.ticket([topic])
                for (own, identifier) in places {
                    let peer = try await CablePeer.welcomed(at: endpoint, "?token=\(ticket)")
                    try await peer.subscribe(identifier)
                    let answer = own == topic ? CablePeer.confirmation(identifier) : CablePeer.rejection(identifier)
                    #expect(try await peer.receive() == answer, "\(topic)")
                    await peer.socket.close()
                }
            }
        }
    }
}
