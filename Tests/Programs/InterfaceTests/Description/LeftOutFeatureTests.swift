import Features
import FoundationEssentials
import JourneyTestSupport
import LetsSwitch
import Settings
import TestSupport
import Testing

/// Daemons that leave a feature out by `--without`.
@Suite struct LeftOutFeatureTests {
    /// What a feature has, and a daemon without it doesn't.
    private struct Share {
        let routes: [(method: String, target: String)]
        var channels: [String] = []
        var schema: String?
        /// Types of messages that only the feature's channels send.
        var contents: [String] = []
        /// Names of events that only the feature's streams send.
        var events: [String] = []
        /// A word in the names of the feature's statements.
        let statements: [String]
    }

    private static func share(of feature: OptionalFeature) -> Share {
        switch feature {
        case .questions:
            Share(
                routes: [("GET", "/questions"), ("POST", "/questions")],
                channels: [#"{"channel":"QuestionsChannel","session":"\#(UUID())","deviceId":"ada"}"#],
                schema: "questions", contents: ["questionResponse", "session"],
                statements: ["ask_question", "vote"])
        case .conversations:
            Share(
                routes: [
                    ("GET", "/conversations"), ("POST", "/users"), ("POST", "/messages"), ("POST", "/blocks"),
                    ("POST", "/task/\(UUID())/conversation"),
                ],
                channels: [#"{"channel":"ConversationChannel","conversation":"\#(UUID())","deviceId":"ada"}"#],
                schema: "conversations", contents: ["new_chat", "history"], events: ["message", "left"],
                statements: ["send_message"])
        case .notifications:
            Share(
                routes: [("POST", "/token")],
                statements: ["lease_deliveries"])
        }
    }

    /// Returns the types of messages in `/schemas/cable.json`, and the names of events in `/schemas/events.json`.
    private static func described(by endpoint: ClientEndpoint) async throws -> (
        contents: Set<String>, events: Set<String>
    ) {
        let (cable, events) = (
            try await endpoint.get("/schemas/cable.json").json(), try await endpoint.get("/schemas/events.json").json()
        )
        let content = cable["$defs"]["server"]["anyOf"].array?.last?["properties"]["message"]["anyOf"].array ?? []
        return (
            Set(content.compactMap { $0["properties"]["type"]["enum"].array?.first?.string }),
            Set((events["$defs"].object ?? [:]).keys)
        )
    }

    private static func statements(_ page: String) -> Set<String> {
        Set(page.matches(of: /letsswitch_db_query_seconds_count\{name="([^"]*)"\}/).map { String($0.output.1) })
    }

    @Test(
        "A daemon without a feature has none of its routes, channels and statements",
        arguments: OptionalFeature.allCases)
    func leftOut(feature: OptionalFeature) async throws {
        try await Journey.run { journey in
            let whole = try await journey.daemon()
            let part = try await journey.daemon { $0.leftOut = [feature] }
            let share = Self.share(of: feature)
            for (method, target) in share.routes {
                let answer = try await HTTPTestClient.request(at: part, method, target, body: Array("{}".utf8))
                #expect(answer.status == 404, "\(method) \(target)")
                let other = try await HTTPTestClient.request(at: whole, method, target, body: Array("{}".utf8))
                #expect(other.status != 404, "\(method) \(target)")
            }
            for name in share.channels {
                let peer = try await CablePeer.welcomed(at: part)
                try await peer.subscribe(name)
                #expect(try await peer.receive() == CablePeer.rejection(name))
            }
            if let schema = share.schema {
                #expect(try await part.get("/schemas/\(schema).json").status == 404)
                #expect(try await whole.get("/schemas/\(schema).json").status == 200)
            }
            let (left, described) = (try await Self.described(by: part), try await Self.described(by: whole))
            #expect(left.contents.isDisjoint(with: share.contents) && described.contents.isSuperset(of: share.contents))
            #expect(left.events.isDisjoint(with: share.events) && described.events.isSuperset(of: share.events))
            #expect(left.contents.isSuperset(of: ["aleResponse", "presence", "reminder", "error"]))
            let (own, all) = (
                Self.statements(try await part.get("/metrics").text),
                Self.statements(try await whole.get("/metrics").text)
            )
            #expect(own.isStrictSubset(of: all))
            for name in share.statements {
                #expect(all.contains { $0.contains(name) } && !own.contains { $0.contains(name) }, "\(name)")
            }
            // The rest works.
            let page = try await part.get("/").text
            #expect(page.contains(#"data-conversations="\#(feature != .conversations)""#))
            _ = try await part.register("ada", try await journey.instant(in: 3_600))
        }
    }

    @Test("`letsswitchd check` names the features that are on or left out")
    func check() throws {
        let parser = CommandLineParser(environment: [:])
        guard
            case .check(let configuration) = try parser.parse(
                ["check", "--without", "questions", "--without", "notifications"])
        else { return #expect(Bool(false), "another command") }
        let lines = ConfigurationCheck(of: configuration, at: 0).report.split(separator: "\n")
        #expect(lines.contains("features: schedule, reminders, matches, conversations"))
        #expect(lines.contains("left out: questions, notifications"))
    }

    @Test(
        "A setting of a feature that is left out is refused",
        arguments: [
            (["--without", "tea"], "--without"), (["--without", "questions", "--open-questions"], "--open-questions"),
            (["--without", "conversations", "--amqp-url", "amqp://localhost"], "--amqp-url"),
            (["--without", "notifications", "--webhook-url", "https://example.org/h"], "--without notifications"),
        ])
    func refusals(arguments: [String], named: String) {
        let error = #expect(throws: UsageError.self) { try CommandLineParser(environment: [:]).parse(arguments) }
        #expect(error?.description.contains(named) == true, "\(error?.description ?? "")")
    }
}
