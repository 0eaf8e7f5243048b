import Access
import Foundation
import JourneyTestSupport
import Questions
import Settings
import TestSupport
import Testing

/// Tickets in question sessions.
@Suite struct QuestionTicketTests {
    private let order: TestJSON = ["title": "Tea"]

    @Test("Where tickets are required, a plain device can't create a session")
    func making() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.tickets.areRequired = true
            }
            let target = "/questions/sessions"
            let plain = try await endpoint.post(target, ["deviceId": "ada", "title": "Tea"])
            #expect(plain.status == 401 && plain.code == "ticket_required")
            let foreign = try await endpoint.post("\(target)?token=\(TestTickets.foreign.ticket())", order)
            #expect(foreign.status == 401 && foreign.code == "bad_ticket")
            for topics in [["questions:\(UUID())"], ["room:*"], []] {
                let refused = try await endpoint.post("\(target)?token=\(TestTickets.own.ticket(topics))", order)
                #expect(refused.status == 403 && refused.code == "topic_not_allowed", "\(topics)")
            }
            for topics in [nil, ["questions:*"]] {
                #expect(
                    try await endpoint.post("\(target)?token=\(TestTickets.own.ticket(topics))", order).status == 201)
            }
        }
    }

    @Test("A presenter's ticket works without the key")
    func sockets() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.tickets.areRequired = true
            }
            let made = try await endpoint.post("/questions/sessions?token=\(TestTickets.own.ticket())", order)
            let id = try #require(try made.json()["id"].string)
            let key = try #require(try made.json()["presenterKey"].string)
            let socket = "/questions/\(id)/socket"
            let ticket = try TestTickets.own.ticket(["questions:\(id)"])
            let presenter = try await QuestionPeer.connect(
                to: endpoint, "\(socket)?live=true&token=\(ticket)", headers: ["Authorization": "Bearer \(key)"])
            let member = try await QuestionPeer.connect(
                to: endpoint, socket, headers: ["Authorization": "Bearer \(ticket)"])
            #expect(presenter.id == member.id)
            try await presenter.receiveList()
            _ = try await member.asked("Why?")
            #expect(try await presenter.receive("question")["question"]["askedFrom"].string == member.id.uuidString)

            let other = try TestTickets.own.ticket(["questions:\(UUID())"])
            for (query, status, code) in [
                ("?deviceId=ada", 401, "ticket_required"), ("?token=\(other)", 403, "topic_not_allowed"),
                ("?token=x", 401, "bad_ticket"),
            ] {
                let refused = try await WebSocketTestClient.refusal(at: endpoint, socket + query)
                #expect(refused.status == status && refused.code == code, "\(query)")
            }
        }
    }

    @Test("The open session accepts messages of at most 32,768 bytes")
    func open() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.tickets = TestTickets.own.settings
                $0.tickets.areRequired = true
                $0.questions.hasOpenSession = true
            }
            let refused = try await WebSocketTestClient.refusal(at: endpoint, "/socket?deviceId=ada")
            #expect(refused.status == 401 && refused.code == "ticket_required")
            let made = try await endpoint.post("/questions/sessions?token=\(TestTickets.own.ticket())", order)
            let id = try #require(try made.json()["id"].string)
            for path in ["/socket", "/questions/\(id)/socket"] {
                let peer = try await QuestionPeer.connect(to: endpoint, "\(path)?token=\(TestTickets.own.ticket())")
                let message = #"{"type":"newQuestion","id":"\#(peer.id)","content":"Why?"}"#
                let padding = String(repeating: " ", count: 32_768 - message.utf8.count)
                try await peer.socket.send(text: message + padding)
                #expect(try await peer.receive("questionResponse")["success"] == true)
                try await peer.socket.send(text: message + padding + " ")
                _ = try await peer.socket.expectClose(1009)
            }
        }
    }
}
