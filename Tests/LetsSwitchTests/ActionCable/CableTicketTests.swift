import Foundation
import Settings
import TestSupport
import Testing

@testable import LetsSwitch

/// Tickets on `/cable`.
@Suite struct CableTicketTests {
    @Test(
        "S6, A1: who brings a ticket that isn't valid learns it on the WebSocket, and who brings none has no identity")
    func invalid() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.tickets = TestTickets.own.settings }
            let reminders = #"{"channel":"RemindersChannel"}"#
            for ticket in [
                "ada", "a.b.c", try TestTickets.foreign.ticket(), try TestTickets.own.ticket(lifetime: -60),
            ] {
                let peer = try await CablePeer.connect(to: endpoint, "?token=\(ticket)")
                #expect(try await peer.hear() == CablePeer.disconnect("unauthorized"), "\(ticket)")
                _ = try await peer.socket.expectClose(1000)
            }
            let ticket = try TestTickets.own.ticket()
            for (query, headers) in [("?token=\(ticket)", [:]), ("", ["Authorization": "Bearer \(ticket)"])]
                as [(String, TestHeaders)]
            {
                let peer = try await CablePeer.welcomed(at: endpoint, query, headers: headers)
                try await peer.enter(reminders)
            }
            let nobody = try await CablePeer.welcomed(at: endpoint)
            try await nobody.subscribe(reminders)
            #expect(try await nobody.hear() == CablePeer.rejection(reminders))
        }
    }

    @Test("A6: a ticket's end is the connection's")
    func expiry() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.tickets = TestTickets.own.settings }
            // Long enough to come in with, on a busy machine too.
            for lifetime in [2, 8, 32] {
                let ticket = try TestTickets.own.ticket(lifetime: lifetime)
                let peer = try await CablePeer.connect(to: endpoint, "?token=\(ticket)")
                let greeting = try await peer.hear()
                if greeting == CablePeer.disconnect("unauthorized") { continue }
                #expect(greeting == #"{"type":"welcome"}"#)
                #expect(try await peer.hear() == CablePeer.disconnect("token_expired"))
                _ = try await peer.socket.expectClose(1000)
                return
            }
            Issue.record("No ticket was good for long enough.")
        }
    }

    @Test("S6: a ticket that is for one topic opens the channels of that one alone")
    func topics() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.openRooms = true
            }
            for (device, name) in [("ada", "ada"), ("bob", "bob")] {
                let named = try await endpoint.post("/users", ["deviceId": .string(device), "name": .string(name)])
                #expect(named.status == 201)
            }
            let opened = try await endpoint.post("/conversations", ["deviceId": "ada", "participants": ["bob"]])
            let conversation = try #require(try opened.json()["id"].string)
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
                    #expect(try await peer.hear() == answer, "\(topic)")
                    await peer.socket.close()
                }
            }
        }
    }
}
