import Domain
import Foundation
import InterfaceTestSupport
import JourneyTestSupport
import Notifications
import Questions
import Settings
import TestSupport
import Testing

@testable import APIDescription

/// The examples of `/openapi.json` are real requests and answers.
///
/// `LETSSWITCH_RECORD_EXAMPLES=1 make test FILTER=ExampleTests` records the answers again.
@Suite struct ExampleTests {
    /// These operations answer with documents, which have no other example.
    private static let documents: Set = ["getOpenapiJson", "getSchemasName"]

    @Test("Each JSON body of a request and an answer has an example that matches its schema") func table() async throws
    {
        // Lists are in the order of time.
        try await Journey.run(clock: .running) { journey in
            let document = try await OpenAPITests.endpoint(journey).get("/openapi.json").json()
            let routes = DescribedRoutes(document)
            let operations = routes.operations.filter { !Self.documents.contains($0.key) }
            var examples = 0
            for (name, operation) in operations {
                var media = operation.successes.map { ("\(name) \($0.key)", $0.value) }
                if !operation.body.isAbsent { media.append((name, operation.body)) }
                for (name, media) in media {
                    examples += 1
                    guard !media["example"].isAbsent else {
                        Issue.record("\(name) has no example")
                        continue
                    }
                    let violation = try routes.check(media["schema"]).violation(about: media["example"])
                    #expect(violation == nil, "\(name): \(violation ?? "")")
                }
            }
            #expect(examples > 60)
            // No example belongs to a route or status that no longer exists.
            for (name, answers) in InterfaceValidation.examples.answers {
                for status in answers.keys {
                    #expect(operations[name]?.successes[status] != nil, "\(name) doesn't answer \(status)")
                }
            }
        }
    }

    @Test("The answer to each example request matches the description") func play() async throws {
        // Lists are in the order of time.
        try await Journey.run(clock: .running) { journey in
            // On the day before that of the examples.
            try await journey.advance(to: try #require(Instant("2026-11-21T08:00:00Z")))
            let endpoint = try await journey.daemon { configuration in
                configuration.providers.publicURL = "https://switch.example"
                configuration.providers.ntfy.server = "https://ntfy.example"
                configuration.providers.webPush.contact = "mailto:ops@switch.example"
                configuration.questions.hasOpenSession = true
            }
            var play = try await ExamplePlay(at: endpoint)
            try await play.play("getHealthz")
            try await play.play("getReadyz")
            try await people(&play)
            try await promises(&play)
            try await messages(&play)
            try await reminders(&play)
            try await attendance(&play, journey)
            try await questions(&play)
            try await play.play("deleteDevice", query: "?deviceId=anna-7c1f")

            let expected = play.routes.operations.filter {
                !Self.documents.contains($0.key) && (!$0.value.body.isAbsent || !$0.value.successes.isEmpty)
            }
            #expect(Set(expected.keys).subtracting(play.played) == [])
            let answers = expected.flatMap { name, operation in operation.successes.keys.map { "\(name) \($0)" } }
            #expect(Set(answers).subtracting(play.responses.map { "\($0.operation) \($0.status)" }) == [])
            if AnswerRecord.isWanted { try AnswerRecord.write(play.responses) }
        }
    }

    private static let asking = "?deviceId=anna-7c1f"

    /// Sends a request that must succeed.
    private func post(_ target: String, _ json: TestJSON, _ play: ExamplePlay) async throws -> TestJSON {
        let response = try await play.endpoint.post(target, json)
        guard 200..<300 ~= response.status else { throw ClientFailure.violation("\(target): \(response.text)") }
        return try response.json()
    }

    private func promise(
        _ device: String, _ hour: Int, _ play: ExamplePlay, isInviting: Bool = false
    ) async throws -> TestJSON {
        let instant = "2026-11-22T\(hour < 10 ? "0" : "")\(hour):00:00Z"
        return try await post(
            "/task",
            [
                "deviceId": .string(device), "title": "Maths", "startsAt": .string(instant),
                "invite": .bool(isInviting),
            ], play)
    }

    private func id(_ json: TestJSON) throws -> String { try #require(json["id"].string) }

    private func people(_ play: inout ExamplePlay) async throws {
        try await play.play("postUsers", 201)
        try await play.play("postUsers", 200)
        for name in ["ben-2e9d", "carl-5a3e"] {
            _ = try await post(
                "/users", ["deviceId": .string(name), "name": .string(String(name.prefix { $0 != "-" }))], play)
        }
        try await play.play("getUsers", query: Self.asking)
    }

    /// Anna registers for nine and moves to ten. Ben joins her there, and Carl at noon.
    private func promises(_ play: inout ExamplePlay) async throws {
        let task = try id(try await play.play("postTask", 201))
        play.known["4294EB43-D59F-4C87-BBC9-A4EFF1D431E2"] = task
        try await play.play("postTask", 200)
        try await play.play("postTaskIdMove", path: ["id": task])
        _ = try await promise("anna-7c1f", 9, play)
        try await play.play("postTaskDelete")
        let other = try await promise("anna-7c1f", 11, play)
        try await play.play("deleteTaskId", path: ["id": try id(other)], query: Self.asking)
        _ = try await promise("ben-2e9d", 10, play)

        let link = try #require(try await promise("anna-7c1f", 12, play, isInviting: true)["invitation"].string)
        let token = try #require(link.split(separator: "/").last.map(String.init))
        try await play.play("getInvitationsToken", path: ["token": token])
        try await play.play("postInvitationsToken", 201, path: ["token": token])
        try await play.play("postInvitationsToken", 200, path: ["token": token])

        try await play.play("postPreferences", 201)
        let preference = try id(try await play.play("postPreferences", 200))
        try await play.play("getPreferences", query: Self.asking)
        try await play.play("deletePreferencesId", path: ["id": preference], query: Self.asking)
        try await play.play("postSchedule")
        try await play.play("getSchedule", query: "\(Self.asking)&date=2026-11-22&timeZone=UTC")

        try await play.play("postSeries", 201)
        let series = try id(try await play.play("postSeries", 200))
        try await play.play("getSeries", query: Self.asking)
        try await play.play("postSeriesId", path: ["id": series])
        try await play.play("deleteSeriesId", path: ["id": series], query: Self.asking)
    }

    /// Conversations with partners, and then with Ben, whom Anna blocks.
    private func messages(_ play: inout ExamplePlay) async throws {
        let task = try #require(play.known.values.first)
        try await play.play("postTaskTaskConversation", 202, path: ["task": task])
        try await play.play("getTaskTaskConversation", path: ["task": task], query: Self.asking)
        let (noon, carls) = (try await promise("anna-7c1f", 12, play), try await promise("carl-5a3e", 12, play))
        _ = try await post("/task/\(try id(carls))/conversation", ["deviceId": "carl-5a3e"], play)
        try await play.play("postTaskTaskConversation", 201, path: ["task": try id(noon)])
        try await play.play("postTaskTaskConversation", 200, path: ["task": try id(noon)])

        let conversation = ["conversation": try id(try await play.play("postConversations", 201))]
        try await play.play("postConversations", 200)
        try await play.play("postMessages", 201)
        let message = TestJSON.string(UUID().uuidString)
        _ = try await post(
            "/messages", ["deviceId": "anna-7c1f", "content": "Tea?", "routingKey": "ben", "id": message], play)
        try await play.play("postMessages", 200, more: ["id": message])
        let listed = try await play.play(
            "getConversationsConversationMessages", path: conversation, query: Self.asking)
        let first = conversation.merging(["message": try id(listed["messages"][0])]) { $1 }
        try await play.play("postConversationsConversationMessagesMessageReactions", 201, path: first)
        try await play.play("postConversationsConversationMessagesMessageReactions", 200, path: first)
        try await play.play(
            "deleteConversationsConversationMessagesMessageReactions", path: first,
            query: "\(Self.asking)&emoji=%F0%9F%8E%89")
        try await play.play("postConversationsConversationRead", path: conversation)
        try await play.play("postConversationsConversationMute", path: conversation)
        try await play.play("getConversations", query: Self.asking)
        try await play.play("postConversationsConversationLeave", path: conversation)

        try await play.play("postBlocks", 201)
        let block = try id(try await play.play("postBlocks", 200))
        try await play.play("getBlocks", query: Self.asking)
        try await play.play("deleteBlocksId", path: ["id": block], query: Self.asking)
    }

    /// The ways to receive reminders.
    private func reminders(_ play: inout ExamplePlay) async throws {
        try await play.play("postToken")
        try await play.play("postNtfy")
        try await play.play("deleteNtfy", query: Self.asking)
        try await play.play("getPushKey")
        try await play.play("postPushSubscription")
        try await play.play(
            "deletePushSubscription", query: "\(Self.asking)&endpoint=https://push.example.org/send/eH4fp1")
        try await play.play("postCalendar")
        try await play.play("deleteCalendar", query: Self.asking)
    }

    private func attendance(_ play: inout ExamplePlay, _ journey: Journey) async throws {
        let task = try #require(play.known.values.first)
        try await journey.advance(to: try #require(Instant("2026-11-22T10:00:30Z")))
        try await play.play("postTaskIdStarted", path: ["id": task])
        try await play.play("getHistory", query: Self.asking)
    }

    private func questions(_ play: inout ExamplePlay) async throws {
        let made = try await play.play("postQuestionsSessions", 201)
        let key = try #require(made["presenterKey"].string)
        let session = TestSession(id: try #require(UUID(uuidString: try id(made))), key: key, endpoint: play.endpoint)
        let question = ["question": try await session.join("anna-7c1f").asked("How long?").uuidString]
        let path = ["session": session.id.uuidString]
        let headers: TestHeaders = ["Authorization": "Bearer \(key)"]
        for action in ["Answer", "Reopen", "Dismiss", "Approve"] {
            try await play.play("postQuestionsQuestion\(action)", path: question, headers: headers)
        }
        try await play.play("postQuestionAnswer", path: question, headers: headers)
        try await play.play("getQuestionsSessionList", path: path)
        try await play.play("postQuestionsSessionAnnounce", path: path, headers: headers)
        try await play.play("postQuestionsSessionClose", path: path, headers: headers)
        try await play.play("postQuestionsSessionOpen", path: path, headers: headers)
    }
}
