import Foundation
import JourneyTestSupport
import Postgres
import Questions
import Settings
import TestSupport
import Testing

/// Each route of sessions, with and without the key, and each error, over HTTP.
@Suite struct QuestionRoutesTests {
    private func post(
        _ target: String, _ headers: TestHeaders = [:], body: String = "{}", at endpoint: ClientEndpoint
    ) async throws -> TestResponse {
        try await HTTPTestClient.request(at: endpoint, "POST", target, headers: headers, body: Array(body.utf8))
    }

    @Test("A session's key is shown once and stored as a digest")
    func sessions() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let made = try await endpoint.post(
                "/questions/sessions", ["deviceId": "ada", "title": "Tea", "moderated": true])
            let json = try made.json()
            let key = try #require(json["presenterKey"].string)
            let id = try #require(json["id"].string)
            #expect(made.status == 201)
            #expect(
                made.text
                    == #"{"id":"\#(id)","title":"Tea","state":"open","moderated":true,"presenterKey":"\#(key)"}"#)
            let kept = try await journey.sql("SELECT key_digest AS key, is_moderated FROM questions.question_session")
            #expect(try kept[0].string("key") != key && kept[0].string("key").count == 64)
            #expect(try kept[0].boolean("is_moderated"))
            for body in [
                "", "x", "{}", #"{"deviceId":"ada"}"#, #"{"deviceId":"","title":"Tea"}"#,
                #"{"deviceId":"ada","title":" "}"#,
            ] {
                let headers: TestHeaders = ["Content-Type": "application/json"]
                let refused = try await post("/questions/sessions", headers, body: body, at: endpoint)
                #expect(refused.status == 400 && refused.code == "invalid_request", "\(body)")
            }
            // The answer to a form leads to the presenter's page.
            let form = try await post(
                "/questions/sessions", ["Content-Type": "application/x-www-form-urlencoded"],
                body: "deviceId=ada&title=Tea+%26+ale", at: endpoint)
            #expect(form.status == 303)
            let presenter = try #require(form.headers["Location"])
            let cookie = try await endpoint.get(presenter)
            let page = try #require(cookie.headers["Location"])
            let set = try #require(cookie.headers["Set-Cookie"])
            #expect(cookie.status == 303 && !page.contains("key=") && presenter.hasPrefix(page))
            for word in ["HttpOnly", "SameSite=Lax", "Path=/questions"] { #expect(set.contains(word), "\(word)") }
            #expect(!set.contains("Secure"))
            let shown = try await HTTPTestClient.request(
                at: endpoint, "GET", page, headers: ["Cookie": "other=1; \(set.prefix { $0 != ";" })"])
            #expect(shown.status == 200 && shown.text.contains("Tea &amp; ale"))
            // The server uses a proxy's header about TLS.
            let secure = try await HTTPTestClient.request(
                at: endpoint, "GET", presenter, headers: ["X-Forwarded-Proto": "https"])
            #expect(secure.headers["Set-Cookie"]?.hasSuffix("; Secure") == true)
        }
    }

    @Test("A presenter's actions need the key, as Bearer or as a cookie")
    func keys() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            let other = try await TestSession.make(at: endpoint)
            let question = try await session.join().asked("Why?")
            let (announce, origin) = (#"{"content":"Tea!","to":"all"}"#, "http://\(endpoint.authority)")
            let routes =
                ["answer", "approve", "dismiss", "reopen"].map { ("/questions/\(question)/\($0)", "{}") }
                + [("/questions/\(session.id)/announce", announce)]
                + ["close", "open"].map { ("/questions/\(session.id)/\($0)", "{}") }
            let cookie = "presenter-\(session.id)=\(session.key)"
            for (target, body) in routes {
                for (headers, status, code) in [
                    ([:], 403, "presenter_only"), (["Authorization": "Bearer x"], 403, "presenter_only"),
                    (["Authorization": "Bearer \(other.key)"], 403, "presenter_only"),
                    (["Cookie": cookie], 403, "presenter_only"),
                    (["Cookie": cookie, "Origin": "https://example.org"], 403, "origin_not_allowed"),
                    (["Cookie": "presenter-\(session.id)=x", "Origin": origin], 403, "presenter_only"),
                    (["Cookie": cookie, "Origin": origin], 200, nil),
                    (["Authorization": "Bearer \(session.key)"], 200, nil),
                ] as [(TestHeaders, Int, String?)] {
                    let response = try await post(target, headers, body: body, at: endpoint)
                    #expect(response.status == status && response.code == code, "\(target) \(headers)")
                }
                // The answer to a form leads back to the page.
                let form = try await post(
                    target, ["Authorization": "Bearer \(session.key)"], body: "content=Tea&answer=", at: endpoint)
                #expect(form.status == 303, "\(target)")
                #expect(form.headers["Location"] == "/questions/\(session.id)/presenter", "\(target)")
            }
            let page = "/questions/\(session.id)/presenter"
            for (target, headers, status) in [
                (page, [:], 403), ("\(page)?key=x", [:], 403), (page, ["Cookie": cookie], 200),
                ("\(page)?key=\(session.key)", [:], 303), ("/questions/\(session.id)", [:], 200),
            ] as [(String, TestHeaders, Int)] {
                let response = try await HTTPTestClient.request(at: endpoint, "GET", target, headers: headers)
                #expect(response.status == status, "\(target)")
            }
        }
    }

    @Test("A user's own changes are in the next list at once")
    func ownDeeds() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            let ada = try await session.join()
            let questions = try await Array(0..<5).asyncMap { try await ada.asked("\($0)?") }
            let key: TestHeaders = ["Authorization": "Bearer \(session.key)"]
            for (count, question) in questions.enumerated() {
                #expect(try await post("/questions/\(question)/answer", key, at: endpoint).status == 200)
                let list = try await endpoint.get("/questions/\(session.id)/list").json()["questions"]
                #expect(list.array?.count { $0["answered"] == true } == count + 1)
            }
        }
    }

    @Test("Unknown or closed sessions and invalid input are refused with their codes")
    func refusals() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.sessionSize = 2 }
            let session = try await TestSession.make(at: endpoint)
            let peer = try await session.join()
            let question = try await peer.asked("Why?")
            let announce: TestJSON = ["content": "Tea!", "to": "all"]
            for path in ["", "/presenter", "/list", "/list?after=x"] {
                #expect(try await endpoint.get("/questions/x\(path)").status == 400, "\(path)")
                let unknown = try await endpoint.get("/questions/\(UUID())\(path)")
                #expect(path.hasSuffix("x") || unknown.code == "no_such_session", "\(path)")
            }
            #expect(try await endpoint.get("/questions/\(session.id)/list?after=x").status == 400)
            for path in ["close", "open", "announce"] {
                #expect(try await session.present("\(UUID())/\(path)", announce).code == "no_such_session")
                #expect(try await session.present("x/\(path)", announce).status == 400)
            }
            for path in ["answer", "approve", "dismiss", "reopen"] {
                #expect(try await session.present("\(UUID())/\(path)").code == "no_such_question")
                #expect(try await session.present("x/\(path)").status == 400)
            }
            for json: TestJSON in [
                [:], ["content": "Tea!"], ["content": " ", "to": "all"], ["content": "Tea!", "to": "x"],
            ] {
                #expect(try await session.present("\(session.id)/announce", json).code == "invalid_request")
            }
            #expect(
                try await session.present(
                    "\(question)/answer", ["answer": .string(String(repeating: "a", count: 2_001))]
                )
                .code == "invalid_request")

            let closed = try await session.present("\(session.id)/close")
            #expect(
                closed.text == #"{"id":"\#(session.id)","title":"Tea","state":"closed","moderated":false}"#)
            for path in ["answer", "approve", "dismiss", "reopen"] {
                let response = try await session.present("\(question)/\(path)")
                #expect(response.status == 409 && response.code == "session_closed", "\(path)")
            }
            #expect(try await session.present("\(session.id)/announce", announce).code == "session_closed")
            let refused = try await peer.ask("And?")
            #expect(refused["success"] == false && refused["content"] == "And?")
            #expect(try await session.present("\(session.id)/open").json()["state"] == "open")

            let socket = "/questions/\(session.id)/socket"
            #expect(try await endpoint.get(socket).status == 426)
            for (target, status, code) in [
                ("/questions/x/socket", 400, "invalid_request"),
                ("/questions/\(UUID())/socket", 404, "no_such_session"),
                ("\(socket)?deviceId=", 400, "invalid_request"),
            ] {
                let response = try await WebSocketTestClient.refusal(at: endpoint, target)
                #expect(response.status == status && response.code == code, "\(target)")
            }
            let second = try await session.join()
            let full = try await WebSocketTestClient.refusal(at: endpoint, socket)
            #expect(full.status == 409 && full.code == "session_full")
            await second.socket.close()
            try await eventually("a place is free") {
                do {
                    await (try await session.join()).socket.close()
                    return true
                } catch is UpgradeRefused {
                    return false
                }
            }
        }
    }

    @Test("A JSON body must be an object or empty")
    func malformed() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            let question = try await session.join().asked("Why?")
            let headers: TestHeaders = [
                "Authorization": "Bearer \(session.key)", "Content-Type": "application/json",
            ]
            let actions = ["approve", "answer", "dismiss", "reopen"].map { "/questions/\(question)/\($0)" }
            let states = ["close", "open"].map { "/questions/\(session.id)/\($0)" }
            for target in actions + states + ["/questions/\(session.id)/announce"] {
                for body in ["x", "[]", "7", "null", #""x""#, #"{"content":"#, "{} x", " ", "content=Tea"] {
                    let refused = try await post(target, headers, body: body, at: endpoint)
                    #expect(refused.status == 400 && refused.code == "invalid_request", "\(target) \(body)")
                }
                // These requests changed nothing.
                let shown = try await session.list()
                #expect(shown.count == 1 && shown[0]["state"] == "approved" && shown[0]["answered"] == false)
            }
            for target in actions + states {
                for body in ["", "{}", #"{"more":[1]}"#] {
                    #expect(try await post(target, headers, body: body, at: endpoint).status == 200, "\(target)")
                }
            }
        }
    }

    @Test("Only the presenter's list has all states and authors")
    func list() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint, moderated: true)
            var ids: [UUID] = []
            let peer = try await session.join()
            for number in 0..<3 { ids.append(try await peer.asked("\(number)")) }
            let response = try await session.present("\(ids[1])/approve")
            #expect(try response.json()["state"] == "approved")
            let list = try await session.list()
            #expect(list.map { $0["id"].string } == ids.map(\.uuidString))
            #expect(list.map { $0["state"].string } == ["pending", "approved", "pending"])
            #expect(list.allSatisfy { $0["askedFrom"].string == peer.id.uuidString })
            let audience = try await endpoint.get("/questions/\(session.id)/list")
            let shown = try audience.json()
            #expect(shown["questions"].array?.count == 1 && shown["more"] == false)
            #expect(
                shown["questions"][0]["id"].string == ids[1].uuidString && shown["questions"][0]["askedFrom"].isAbsent)
            let rest = try await HTTPTestClient.request(
                at: endpoint, "GET", "/questions/\(session.id)/list?after=\(ids[0])",
                headers: ["Authorization": "Bearer \(session.key)"])
            #expect(try rest.json()["questions"].array?.count == 2)
        }
    }

    @Test("An announcement reaches each of its recipients once")
    func announce() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            let peers = [
                try await session.join("ada"), try await session.join("bob"),
                try await session.join("bob", isLive: true),
            ]
            try await peers[2].receiveList()
            #expect(peers[1].id == peers[2].id && peers[0].id != peers[1].id)
            let (ada, bob, nobody) = (peers[0].id.uuidString, peers[1].id.uuidString, UUID().uuidString)
            for (number, (to, receivers))
                in ([
                    ("all", [0, 1, 2]), (["ids": [.string(ada), .string(nobody), .string(ada)]], [0]),
                    (["ids": [.string(bob)]], [1, 2]), (["ids": []], []),
                    (["allBut": [.string(ada), .string(nobody)]], [1, 2]),
                    (["allBut": []], [0, 1, 2]),
                ] as [(TestJSON, [Int])]).enumerated()
            {
                let content = "Announcement \(number)"
                let sent = try await session.present("\(session.id)/announce", ["content": .string(content), "to": to])
                #expect(sent.text == #"{"sent":\#(receivers.count)}"#, "\(number)")
                for receiver in receivers {
                    #expect(try await peers[receiver].receive("announcement")["content"].string == content, "\(number)")
                }
            }
            for peer in peers { try await peer.expectNothing() }
        }
    }
}
