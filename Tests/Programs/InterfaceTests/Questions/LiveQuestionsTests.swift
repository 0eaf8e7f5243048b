import Foundation
import JourneyTestSupport
import LetsSwitch
import TestSupport
import Testing

/// Events that subscribers of a session receive over sockets.
@Suite struct LiveQuestionsTests {
    @Test(
        "The audience receives only the changes of approved questions"
    )
    func follows() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint, moderated: true)
            let presenter = try await session.join("speaker", isLive: true, asPresenter: true)
            let (ada, bob) = (try await session.join("ada", isLive: true), try await session.join("bob", isLive: true))
            let quiet = try await session.join("ada")
            for peer in [presenter, ada, bob] {
                let list = try await peer.receiveList()
                #expect(list["questions"] == [] && list["more"] == false)
            }
            let question = try await ada.asked("Why?")
            let id = TestJSON.string(question.uuidString)
            let new = try await presenter.receive("question")["question"]
            #expect(new["id"] == id && new["state"] == "pending" && new["askedFrom"].string == ada.id.uuidString)
            // Others don't see a question that isn't approved.
            for peer in [ada, bob] { try await peer.expectNothing() }
            _ = try await session.present("\(question)/approve")
            for peer in [ada, bob] {
                let shown = try await peer.receive("question")["question"]
                #expect(shown["content"] == "Why?" && shown["votes"] == 0 && shown["askedFrom"].isAbsent)
            }
            try await bob.vote(question)
            try await bob.vote(question)
            for peer in [presenter, ada, bob] { try await peer.receive("question") { $0["question"]["votes"] == 1 } }
            try await bob.vote(question, "unvote")
            for peer in [presenter, ada, bob] { try await peer.receive("question") { $0["question"]["votes"] == 0 } }

            _ = try await session.present("\(question)/answer", ["answer": "So."])
            for peer in [ada, quiet] { try await peer.receive("questionAnswer") { $0["questionId"] == id } }
            for peer in [presenter, ada, bob] {
                try await peer.receive("question") {
                    $0["question"]["answered"] == true && $0["question"]["answer"] == "So."
                }
            }
            _ = try await session.present("\(question)/dismiss")
            for peer in [ada, bob] { try await peer.receive("questionRemoved") }
            #expect(try await presenter.receive("question")["question"]["state"] == "dismissed")
            _ = try await session.present("\(session.id)/close")
            for peer in [presenter, ada, bob] { #expect(try await peer.receive("session")["state"] == "closed") }
            try await quiet.socket.expectNothing()

            // A person who joins later gets the current list.
            let late = try await session.join(isLive: true, asPresenter: true)
            #expect(try await late.receiveList("closed")["questions"][0]["state"] == "dismissed")
        }
    }

    @Test(
        "Voting requires a device, whose id stays the same"
    )
    func identity() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.daemonAndEndpoint()
            let session = try await TestSession.make(at: endpoint)
            let anonymous = try await session.join()
            let ada = try await session.join("ada")
            let question = try await ada.asked("Why?")
            try await anonymous.vote(question)
            #expect(try await anonymous.receive("error")["code"] == "device_required")
            try await ada.vote(UUID())
            #expect(try await ada.receive("error")["code"] == "no_such_question")
            try await ada.vote(question)
            #expect(try await ada.ask("And?")["success"] == true)
            await ada.socket.close()
            await daemon.stop()

            let again = session.at(try await journey.daemon())
            let returned = try await again.join("ada")
            #expect(returned.id == ada.id)
            try await returned.vote(question)
            // Messages take effect in order.
            #expect(try await returned.ask("And then?")["success"] == true)
            let list = try await again.list()
            #expect(list.map { $0["content"].string } == ["Why?", "And?", "And then?"])
            #expect(list[0]["votes"] == 1)
            // Another session knows the same device by another id.
            let other = try await TestSession.make(at: again.endpoint)
            #expect(try await other.join("ada").id != ada.id)
            _ = try await again.present("\(question)/answer")
            #expect(try await returned.receive("questionAnswer")["questionId"].string == question.uuidString)
        }
    }

    @Test("The seventh question in a minute is refused with a reason")
    func pace() async throws {
        try await Journey.run { journey in
            let session = try await TestSession.make(at: try await journey.daemon())
            let peer = try await session.join("ada")
            for number in 0..<6 { _ = try await peer.asked("\(number)") }
            let refused = try await session.join("ada").ask("6")
            #expect(refused["success"] == false && refused["content"] == "6" && refused["answered"] == false)
            #expect(refused["id"].isAbsent && refused["createdAt"].isAbsent)
            _ = try await session.join("bob").asked("6")
        }
    }

    @Test("Only the user who sends more than two hundred messages at once is disconnected")
    func haste() async throws {
        try await Journey.run { journey in
            let session = try await TestSession.make(at: try await journey.daemon())
            let (hasty, other) = (try await session.join("ada"), try await session.join("bob"))
            for _ in 0..<300 { try? await hasty.socket.send(text: "{}") }
            try await hasty.socket.expectClose(1008, passingOver: true)
            _ = try await other.asked("Why?")
        }
    }

    @Test("The rate limit of a device counts all its sockets")
    func devicePace() async throws {
        try await Journey.run { journey in
            let session = try await TestSession.make(at: try await journey.daemon())
            let sockets = [try await session.join("ada"), try await session.join("ada")]
            let other = try await session.join("bob")
            for socket in sockets { for _ in 0..<200 { try? await socket.socket.send(text: "{}") } }
            try await sockets[1].socket.expectClose(1008, passingOver: true)
            for _ in 0..<150 { try await other.socket.send(text: "{}") }
            _ = try await other.asked("Why?")
        }
    }

    @Test("Votes for many long questions delay no answer")
    func votesWait() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            let ids = (0..<120).map { _ in UUID() }
            for (index, id) in ids.enumerated() {
                try await journey.sql(
                    """
                    INSERT INTO questions.question
                        (id, session_id, number, content, state, asked_from, created_at, version)
                    VALUES ('\(id)', '\(session.id)', \(index + 1), repeat('ü', 2000), 'approved', '\(UUID())', now(),
                        \(index + 1))
                    """)
            }
            try await journey.sql("UPDATE questions.question_session SET version = 120 WHERE id = '\(session.id)'")
            let (voter, viewer) = (try await session.join("ada"), try await session.join("bob", isLive: true))
            try await viewer.receive("session") { _ in true }
            for id in ids.dropLast() { try await voter.vote(id) }
            try await viewer.receive("question") { _ in true }
            _ = try await session.present("\(ids[119])/answer")
            var voted: Set<String> = []
            func receiveVote() async throws -> TestJSON {
                let question = try await viewer.receive("question")["question"]
                if question["votes"] == 1 { voted.insert(question["id"].string ?? "") }
                return question
            }
            while try await receiveVote()["answered"] != true {}
            #expect(voted.count < 100)
            while voted.count < 118 { _ = try await receiveVote() }
        }
    }

    @Test("A list of several pages arrives completely during many changes")
    func pages() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            try await journey.sql(
                """
                INSERT INTO questions.question (id, session_id, number, content, state, asked_from, created_at, version)
                SELECT gen_random_uuid(), '\(session.id)', n, repeat('word ', 60) || n, 'approved', gen_random_uuid(), now(), n
                FROM generate_series(1, 350) AS n
                """)
            try await journey.sql("UPDATE questions.question_session SET version = 350 WHERE id = '\(session.id)'")
            let voter = try await session.join("bob")
            let first = try #require(try await session.list().first?["id"].string.flatMap(UUID.init(uuidString:)))
            for round in 0..<5 {
                try await voter.vote(first, round % 2 == 0 ? "vote" : "unvote")
                let peer = try await session.join(isLive: true)
                var ids: [String] = []
                var hasMore = true
                while hasMore {
                    let page = try await peer.receive("questions") { _ in true }
                    ids += page["questions"].array?.compactMap { $0["id"].string } ?? []
                    hasMore = page["more"] == true
                }
                #expect(ids.count == 350 && Set(ids).count == 350)
                await peer.socket.close()
            }
        }
    }

    @Test("Changes of a session cross between two daemons on one database")
    func twoDaemons() async throws {
        try await Journey.run { journey in
            let here = try await TestSession.make(at: try await journey.daemon())
            let there = here.at(try await journey.daemon())
            let (ada, bob) = (try await here.join("ada", isLive: true), try await there.join("bob", isLive: true))
            let elsewhere = try await there.join("ada")
            #expect(elsewhere.id == ada.id)
            for peer in [ada, bob] { try await peer.receiveList() }
            let question = try await ada.asked("Why?")
            try await bob.receive("question") { $0["question"]["id"].string == question.uuidString }
            try await bob.vote(question)
            try await ada.receive("question") { $0["question"]["votes"] == 1 }
            _ = try await there.present("\(question)/answer")
            for peer in [ada, elsewhere] { try await peer.receive("questionAnswer") { _ in true } }
            _ = try await here.present("\(here.id)/announce", ["content": "Tea!", "to": "all"])
            for peer in [ada, bob, elsewhere] { try await peer.receive("announcement") { $0["content"] == "Tea!" } }
            _ = try await there.present("\(there.id)/close")
            for peer in [ada, bob] { try await peer.receive("session") { $0["state"] == "closed" } }
            try await elsewhere.socket.expectNothing()
        }
    }

    @Test("While the database is unavailable, asking fails with an error")
    func outage() async throws {
        let cluster = try await TestCluster.dedicated()
        try await Journey.run(on: cluster, timeouts: .documented) { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            let (ada, bob) = (try await session.join("ada"), try await session.join("bob", isLive: true))
            try await bob.receiveList()
            let question = try await ada.asked("Why?")
            try await bob.receive("question")
            await cluster.stop()
            let refused = try await ada.ask("And?")
            #expect(
                refused["success"] == false && refused["message"].string?.isEmpty == false
                    && refused["content"] == "And?")
            try await bob.vote(question)
            #expect(try await bob.receive("error")["code"] == "database_unavailable")
            let answer = try await session.present("\(question)/answer")
            #expect(answer.status == 503 && answer.code == "database_unavailable")
            #expect(
                try await session.present("\(session.id)/announce", ["content": "Tea!", "to": "all"]).status == 503)
            try await cluster.start()
            try await eventually("the database is back") { try await endpoint.get("/readyz").status == 200 }
            _ = try await ada.asked("And?")
            try await bob.receive("question") { $0["question"]["content"] == "And?" }
            _ = try await session.present("\(question)/answer")
            try await ada.receive("questionAnswer") { $0["questionId"].string == question.uuidString }
        }
    }

    @Test("An erasure on one daemon ends the user's connections on another")
    func erasedElsewhere() async throws {
        // What comes after an erasure has a later time than the erasure.
        try await Journey.run(clock: .running) { journey in
            let here = try await TestSession.make(at: try await journey.daemon())
            let there = here.at(try await journey.daemon())
            let (ada, bob) = (try await there.join("ada"), try await there.join("bob", isLive: true))
            try await bob.receiveList()
            let question = try await ada.asked("Secret?")
            try await bob.receive("question")
            let cable = try await CablePeer.welcomed(at: there.endpoint, "?deviceId=ada")
            let other = try await CablePeer.welcomed(at: there.endpoint, "?deviceId=bob")
            let hers = [
                #"{"channel":"RemindersChannel","deviceId":"ada"}"#,
                #"{"channel":"QuestionsChannel","session":"\#(there.id)","deviceId":"ada"}"#,
            ]
            for identifier in hers { try await other.enter(identifier) }
            for _ in 0..<3 { _ = try await other.receiveMessage(of: hers[1]) }
            let stream = try await there.endpoint.reminders(of: "ada")
            let erased = try await HTTPTestClient.request(at: here.endpoint, "DELETE", "/device?deviceId=ada")
            #expect(erased.status == 200)
            try await ada.socket.expectClose(1000)
            #expect(try await cable.receive() == CablePeer.disconnect("remote"))
            try await stream.expectEnd()
            let rejections = [try await other.receive(), try await other.receive()]
            #expect(Set(rejections) == Set(hers.map(CablePeer.rejection)))
            #expect(try await bob.receive("questionRemoved")["questionId"].string == question.uuidString)
            _ = try await there.join("ada").asked("Hello?")
        }
    }

    @Test("After an erasure, no page shows the user's texts")
    func erasure() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            let (ada, bob) = (try await session.join("ada"), try await session.join("bob", isLive: true))
            try await bob.receiveList()
            let question = try await ada.asked("Secret?")
            try await bob.receive("question")
            let erased = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=ada")
            #expect(erased.status == 200)
            try await ada.socket.expectClose(1000)
            #expect(try await bob.receive("questionRemoved")["questionId"].string == question.uuidString)
            #expect(try await session.list().isEmpty)
            // Deletes the session's title, which daemons remember while somebody is in the session.
            let page = "/questions/\(session.id)"
            #expect(try await endpoint.get(page).text.contains(">Tea</h1>"))
            _ = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=speaker")
            try await eventually("a page without the title") {
                try await endpoint.get(page).text.contains(">Questions</h1>")
            }
            _ = try await bob.asked("Who speaks?")
        }
    }
}
