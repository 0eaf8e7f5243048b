import Access
import Foundation
import JourneyTestSupport
import Matches
import Questions
import Settings
import TestSupport
import Testing

/// Question sessions on `/cable`.
@Suite struct CableQuestionTests {
    private func identifier(_ session: UUID, _ more: String = "") -> String {
        #"{"channel":"QuestionsChannel","session":"\#(session)"\#(more)}"#
    }

    /// Skips other messages.
    private func receive(
        _ type: String, _ peer: CablePeer, _ identifier: String, where isWanted: (TestJSON) -> Bool = { _ in true }
    ) async throws -> TestJSON {
        while true {
            let message = try await peer.receiveMessage(of: identifier)
            if message.type == type, isWanted(message.data) { return message.data }
        }
    }

    @Test("A cable and a WebSocket of one user receive the same events")
    func journey() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint, moderated: true)
            let socket = try await session.join("ada", isLive: true)
            try await socket.receiveList()
            let (ada, bob) = (
                try await CablePeer.welcomed(at: endpoint, "?deviceId=ada"), try await CablePeer.welcomed(at: endpoint)
            )
            let (mine, his) = (identifier(session.id), identifier(session.id, #","deviceId":"bob""#))
            for (peer, name) in [(ada, mine), (bob, his)] {
                try await peer.enter(name)
                let handshake = try await peer.receiveMessage(of: name)
                #expect(handshake.type == "handshake")
                #expect((handshake.data["id"].string == socket.id.uuidString) == (name == mine))
                let list = try await peer.receiveMessage(of: name)
                #expect(list.type == "questions" && list.data == ["questions": [], "more": false])
                let state = try await peer.receiveMessage(of: name)
                #expect(state.type == "session" && state.data == ["state": "open"])
            }
            try await ada.perform(["action": "ask", "content": "Why?"], mine)
            let response = try await ada.receiveMessage(of: mine)
            let id = try #require(response.data["id"].string)
            #expect(response.type == "questionResponse" && response.data["success"] == true)
            #expect(response.data["content"] == "Why?" && response.data["answered"] == false)
            _ = try await session.present("\(id)/approve")
            for (peer, name) in [(ada, mine), (bob, his)] {
                let question = try await peer.receiveMessage(of: name)
                #expect(question.type == "question" && question.data["question"]["id"].string == id)
                #expect(question.data["question"]["askedFrom"].isAbsent)
            }
            for (action, votes) in [("vote", 1), ("unvote", 0)] as [(TestJSON, TestJSON)] {
                try await bob.perform(["action": action, "questionId": .string(id)], his)
                for (peer, name) in [(ada, mine), (bob, his)] {
                    _ = try await receive("question", peer, name) { $0["question"]["votes"] == votes }
                }
                try await socket.receive("question") { $0["question"]["votes"] == votes }
            }
            _ = try await session.present("\(id)/answer", ["answer": "So."])
            #expect(try await receive("questionAnswer", ada, mine) == ["questionId": .string(id)])
            _ = try await receive("question", bob, his) { $0["question"]["answer"] == "So." }
            _ = try await session.present("\(session.id)/announce", ["content": "Tea!", "to": "all"])
            #expect(try await receive("announcement", bob, his) == ["content": "Tea!"])
            _ = try await session.present("\(id)/dismiss")
            #expect(try await receive("questionRemoved", bob, his) == ["questionId": .string(id)])

            try await bob.unsubscribe(his)
            _ = try await session.present("\(session.id)/close")
            #expect(try await receive("session", ada, mine) == ["state": "closed"])
            try await bob.expectNothing()
            try await ada.perform(["action": "ask", "content": "And?"], mine)
            #expect(try await receive("questionResponse", ada, mine)["success"] == false)
        }
    }

    @Test(
        "Invalid subscriptions and actions affect no other member of the session")
    func refusals() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.sessionSize = 2 }
            let session = try await TestSession.make(at: endpoint)
            let other = try await session.join("bob", isLive: true)
            try await other.receiveList()
            let peer = try await CablePeer.welcomed(at: endpoint)
            for wrong in [
                #"{"channel":"QuestionsChannel"}"#, #"{"channel":"QuestionsChannel","session":"x"}"#,
                #"{"channel":"QuestionsChannel","session":{}}"#, identifier(UUID()),
                identifier(session.id, #","deviceId":"""#), identifier(try #require(UUID(uuidString: Self.open))),
            ] {
                try await peer.subscribe(wrong)
                #expect(try await peer.receive() == CablePeer.rejection(wrong))
            }
            let name = identifier(session.id)
            try await peer.enter(name)
            for type in ["handshake", "questions", "session"] {
                #expect(try await peer.receiveMessage(of: name).type == type)
            }
            for (data, code) in [
                ("{}", "unknown_action"), (#"{"action":"dance"}"#, "unknown_action"), ("x", "invalid_request"),
                (#"{"action":"vote"}"#, "invalid_request"), (#"{"action":"vote","questionId":7}"#, "invalid_request"),
                (#"{"action":"vote","questionId":"\#(UUID())"}"#, "device_required"),
            ] {
                try await peer.socket.send(text: CablePeer.message(data, name))
                let error = try await peer.receiveMessage(of: name)
                #expect(error.type == "error" && error.data["code"].string == code, "\(data)")
                #expect(error.data["reason"].string?.isEmpty == false)
            }
            for content in [.absent, "", " ", 7, .string(String(repeating: "a", count: 2_001))] as [TestJSON] {
                try await peer.perform(["action": "ask", "content": content], name)
                let refused = try await peer.receiveMessage(of: name)
                #expect(refused.type == "questionResponse" && refused.data["success"] == false)
            }
            // The session is full.
            let late = try await CablePeer.welcomed(at: endpoint)
            try await late.subscribe(name)
            #expect(try await late.receive() == CablePeer.rejection(name))
            #expect(try await MetricsReading(endpoint)[#"letsswitch_turned_away_total{cause="session-size"}"#] == 1)
            try await peer.unsubscribe(name)
            try await peer.expectNothing()
            try await other.expectNothing()
            try await late.enter(name)
        }
    }

    @Test("A question sent before the confirmation is stored")
    func atOnce() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.sessionSize = 1 }
            let session = try await TestSession.make(at: endpoint)
            let name = identifier(session.id)
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            for _ in 0..<20 {
                try await peer.subscribe(name)
                try await peer.unsubscribe(name)
            }
            try await peer.subscribe(name)
            try await peer.perform(["action": "ask", "content": "Why?"], name)
            var types: [String] = []
            while types.last != "questionResponse" {
                let frame = try TestJSON(parsing: Array(try await peer.receive().utf8))
                try #require(frame["type"] != "reject_subscription")
                if let type = frame["message"]["type"].string { types.append(type) }
            }
            #expect(types.contains("handshake"))
        }
    }

    @Test("Long lists of many sessions arrive completely")
    func lists() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket { $0.cable.messageRate = 0 }
            // Each session has about 100 kB, in at least three pages.
            let (sessions, count) = (12, 25)
            var identifiers: [String] = []
            for _ in 0..<sessions {
                let session = try await TestSession.make(at: endpoint).id
                try await journey.sql(
                    """
                    INSERT INTO questions.question (id, session_id, number, content, state, asked_from, created_at, version)
                    SELECT gen_random_uuid(), '\(session)', n, repeat('ü', 2000), 'approved', gen_random_uuid(), now(), n
                    FROM generate_series(1, \(count)) AS n
                    """)
                try await journey.sql(
                    "UPDATE questions.question_session SET version = \(count) WHERE id = '\(session)'")
                identifiers.append(identifier(session))
            }
            let peer = try await CablePeer.welcomed(at: endpoint)
            for identifier in identifiers { try await peer.subscribe(identifier) }
            // During these requests, all of them could be read and sent.
            for _ in 0..<30 { _ = try await TestSession.make(at: endpoint) }
            var (listed, whole): ([String: Int], Set<String>) = ([:], [])
            while whole.count < sessions {
                let message = try TestJSON(parsing: Array(try await peer.receive().utf8))
                guard let identifier = message["identifier"].string else { continue }
                switch message["message"]["type"].string {
                case "questions":
                    listed[identifier, default: 0] += message["message"]["data"]["questions"].array?.count ?? 0
                case "session": whole.insert(identifier)
                default: break
                }
            }
            for identifier in identifiers { #expect(listed[identifier] == count) }
        }
    }

    @Test(
        "Changes arrive completely in each of a connection's sessions"
    )
    func changes() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket()
            let session = try await TestSession.make(at: endpoint)
            // Four sessions of about 200 kB each.
            let ids = try await ask(50, in: session, journey)
            let peer = try await CablePeer.welcomed(at: endpoint)
            let names = (0..<4).map { identifier(session.id, #","n":\#($0)"#) }
            var (ready, voted): (Set<String>, [String: Set<String>]) = ([], [:])
            func receive() async throws {
                let message = try TestJSON(parsing: Array(try await peer.receive().utf8))
                guard let name = message["identifier"].string else { return }
                if message["message"]["type"] == "session" { ready.insert(name) }
                let question = message["message"]["data"]["question"]
                if question["votes"] == 1, let id = question["id"].string { voted[name, default: []].insert(id) }
            }
            for name in names { try await peer.subscribe(name) }
            while ready.count < names.count { try await receive() }
            let (voter, viewer) = (try await session.join("ada"), try await session.join("bob", isLive: true))
            try await viewer.receive("session") { _ in true }
            for id in ids { try await voter.vote(id) }
            var received: Set<String> = []
            while received.count < ids.count {
                let question = try await viewer.receive("question") { $0["question"]["votes"] == 1 }["question"]
                received.insert(question["id"].string ?? "")
            }
            while names.contains(where: { voted[$0]?.count != ids.count }) { try await receive() }
        }
    }

    /// Stores `count` questions of the maximum length at once.
    private func ask(_ count: Int, in session: TestSession, _ journey: Journey) async throws -> [UUID] {
        let ids = (0..<count).map { _ in UUID() }
        try await journey.sql(
            """
            INSERT INTO questions.question (id, session_id, number, content, state, asked_from, created_at, version)
            SELECT id, '\(session.id)', n, repeat('ü', 2000), 'approved', gen_random_uuid(), now(), n
            FROM unnest('{\(ids.map(\.uuidString).joined(separator: ","))}'::uuid[]) WITH ORDINALITY AS asked (id, n)
            """)
        try await journey.sql("UPDATE questions.question_session SET version = \(count) WHERE id = '\(session.id)'")
        return ids
    }

    @Test("A connection that doesn't read is closed after sixteen unsent changes")
    func unread() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket()
            let session = try await TestSession.make(at: endpoint)
            // Two copies of these questions are twice as large as the kernel's buffers.
            let ids = try await ask(50, in: session, journey)
            let peer = try await CablePeer.welcomed(at: endpoint)
            try await peer.enter(identifier(session.id))
            _ = try await receive("session", peer, identifier(session.id))
            let (voter, viewer) = (try await session.join("ada"), try await session.join("bob", isLive: true))
            try await viewer.receive("session") { _ in true }
            func hasCutOff() async throws -> Bool {
                try await MetricsReading(endpoint)[#"letsswitch_websockets_closed_total{code="1008"}"#] == 1
            }
            for (type, votes) in [("vote", 1), ("unvote", 0)] as [(String, TestJSON)] {
                for id in ids { try await voter.vote(id, type) }
                var received: Set<String> = []
                while received.count < ids.count {
                    let question = try await viewer.receive("question") { $0["question"]["votes"] == votes }["question"]
                    received.insert(question["id"].string ?? "")
                }
            }
            // The changes are made one at a time, and each is reported separately.
            var changes = 0
            while try await !hasCutOff(), changes <= CableLimits.waitingPublications {
                changes += 1
                try await voter.vote(ids[0], changes % 2 == 1 ? "vote" : "unvote")
                try await viewer.receive("question") { $0["question"]["votes"].int == changes % 2 }
            }
            try await eventually("it is cut off") { try await hasCutOff() }
            // The peer still receives the bytes in the kernel's buffers, and no others.
            await #expect(throws: (any Error).self) { while true { _ = try await peer.receive() } }
            try await voter.vote(ids[1])
            try await viewer.receive("question") { $0["question"]["id"].string == ids[1].uuidString }
        }
    }

    @Test("A connection has at most a hundred subscriptions, even of one session")
    func subscriptions() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let peer = try await CablePeer.welcomed(at: endpoint)
            let (session, room) = (try await TestSession.make(at: endpoint).id, UUID())
            /// The answer to a subscription; other messages are skipped.
            func answer(to identifier: String) async throws -> String? {
                try await peer.subscribe(identifier)
                while true {
                    let message = try TestJSON(parsing: Array(try await peer.receive().utf8))
                    if message["identifier"].string == identifier, let type = message["type"].string { return type }
                }
            }
            let names = (0..<102).map { number in
                number % 2 == 0 ? identifier(session, #","n":\#(number)"#) : CablePeer.room(room, #","n":\#(number)"#)
            }
            for name in names[..<100] { #expect(try await answer(to: name) == "confirm_subscription") }
            for name in names[100...] { #expect(try await answer(to: name) == "reject_subscription") }
            try await peer.unsubscribe(names[0])
            #expect(try await answer(to: names[101]) == "confirm_subscription")
            #expect(try await answer(to: names[100]) == "reject_subscription")
            // The limit doesn't affect other connections.
            let other = try await CablePeer.welcomed(at: endpoint)
            try await other.enter(CablePeer.room(room))
        }
    }

    @Test("No message is sent for a subscription before its confirmation")
    func waiting() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let name = identifier(try await TestSession.make(at: endpoint).id)
            let peer = try await CablePeer.welcomed(at: endpoint)
            let action = TestFrame(.text, CablePeer.message(#"{"action":"dance"}"#, name)).bytes()
            try await peer.socket.connection.send(
                TestFrame(.text, CablePeer.command("subscribe", name)).bytes() + (0..<70).flatMap { _ in action })
            #expect(try await peer.receive() == CablePeer.confirmation(name))
            for _ in 0..<64 {
                #expect(try await receive("error", peer, name)["code"] == "unknown_action")
            }
            #expect(
                try await MetricsReading(endpoint)[#"letsswitch_cable_ignored_total{reason="not_subscribed"}"#] == 6)
        }
    }

    @Test("More than 64 waiting commands close the connection without reconnect")
    func overflow() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.cable.messageRate = 0 }
            let name = identifier(try await TestSession.make(at: endpoint).id)
            let peer = try await CablePeer.welcomed(at: endpoint)
            // Each command waits for the earlier ones, and every subscription also waits for the database.
            try await peer.socket.connection.send(
                (0..<400).flatMap { index in
                    TestFrame(.text, CablePeer.command(index % 2 == 0 ? "subscribe" : "unsubscribe", name)).bytes()
                })
            #expect(try await peer.receive() == CablePeer.disconnect("invalid_request"))
            _ = try await peer.socket.expectClose(1000)
        }
    }

    /// The session of `--open-questions`. This daemon runs without that flag.
    private static let open = "00000000-0000-0000-0000-000000000000"
}
