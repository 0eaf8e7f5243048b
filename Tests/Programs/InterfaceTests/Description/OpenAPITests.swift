import Domain
import Foundation
import JourneyTestSupport
import Notifications
import Questions
import Settings
import TestSupport
import Testing
import Wire

@testable import APIDescription

/// The server's description of its routes.
@Suite struct OpenAPITests {
    /// Starts a daemon that has every route.
    static func endpoint(_ journey: Journey) async throws -> ClientEndpoint {
        try await journey.daemon { configuration in
            configuration.providers.ntfy.server = "https://ntfy.example"
            configuration.questions.hasOpenSession = true
            configuration.echo = true
        }
    }

    /// Returns each operation with its method and path.
    private func operations(_ document: TestJSON) throws -> [(name: String, path: String, operation: TestJSON)] {
        try #require(document["paths"].object).flatMap { path, item in
            (item.object ?? [:]).map { ("\($0.key) \(path)", path, $0.value) }
        }
    }

    /// Returns the parameters of an operation, including those that it refers to.
    private func parameters(of operation: TestJSON, _ document: TestJSON) -> [TestJSON] {
        (operation["parameters"].array ?? []).map { parameter in
            guard let name = parameter["$ref"].string?.split(separator: "/").last else { return parameter }
            return document["components"]["parameters"][String(name)]
        }
    }

    @Test("Every route is described completely") func routes() async throws {
        try await Journey.run { journey in
            let document = try await Self.endpoint(journey).get("/openapi.json").json()
            #expect(document["openapi"] == "3.1.0")
            let operations = try operations(document)
            #expect(operations.count > 40)
            for (name, path, operation) in operations {
                #expect(operation["summary"].string?.isEmpty == false, "\(name) has no description")
                let answers = (operation["responses"].object ?? [:]).keys
                #expect(answers.contains { $0.hasPrefix("1") || $0.hasPrefix("2") }, "\(name) has no answer of its own")
                let named = path.matches(of: #/\{([a-z]+)\}/#).map { String($0.output.1) }
                let declared = parameters(of: operation, document).filter { $0["in"] == "path" }
                #expect(Set(named) == Set(declared.compactMap { $0["name"].string }), "\(name)")
                #expect(operation["requestBody"] == .absent || !name.hasPrefix("get "), "\(name)")
            }
            let identities = operations.compactMap { $0.operation["operationId"].string }
            #expect(Set(identities).count == operations.count)
        }
    }

    @Test("A body is optional only if it has no required member") func bodies() async throws {
        try await Journey.run { journey in
            let endpoint = try await Self.endpoint(journey)
            let document = try await endpoint.get("/openapi.json").json()
            var optional: Set<String> = []
            for (name, _, operation) in try operations(document) where !operation["requestBody"].isAbsent {
                if operation["requestBody"]["required"] == false { optional.insert(name) }
            }
            let moderating = ["answer", "approve", "dismiss", "reopen"].map { "post /questions/{question}/\($0)" }
            #expect(
                optional
                    == Set(
                        moderating + [
                            "post /{question}/answer", "post /questions/{session}/open",
                            "post /questions/{session}/close",
                        ]))
            // The described statuses must be those of real answers.
            let made = try await endpoint.post("/questions/sessions", ["deviceId": "speaker", "title": "Tea"]).json()
            let presenter: TestHeaders = ["Authorization": "Bearer \(made["presenterKey"].string ?? "")"]
            let session = "/questions/\(made["id"].string ?? "")"
            for (target, isJSON, status) in [
                ("/questions/sessions", true, 400), ("/questions/sessions", false, 400),
                ("\(session)/announce", true, 400), ("\(session)/announce", false, 400),
                ("\(session)/close", true, 200), ("\(session)/open", false, 303),
            ] {
                var headers = presenter
                if isJSON { headers.append("Content-Type", "application/json") }
                let answer = try await HTTPTestClient.request(at: endpoint, "POST", target, headers: headers)
                #expect(answer.status == status, "\(target), \(isJSON ? "JSON" : "a form"): \(answer.text)")
            }
        }
    }

    @Test("The limit of recipients in the description is the server's") func recipients() async throws {
        try await Journey.run { journey in
            let document = try await Self.endpoint(journey).get("/openapi.json").json()
            let routes = DescribedRoutes(document)
            let announce = try #require(routes.operations["postQuestionsSessionAnnounce"])
            let described = try routes.check(announce.body["schema"])
            func names(_ count: Int) -> TestJSON {
                .array(Array(repeating: .string(UUID().uuidString), count: count))
            }
            for (to, isFine) in [
                ("all", true), ("some", false), ([:], false), (["ids": []], true), (["ids": [], "allBut": []], false),
                (["ids": names(Recipients.maximumCount)], true), (["ids": names(Recipients.maximumCount + 1)], false),
                (["allBut": names(Recipients.maximumCount)], true),
                (["allBut": names(Recipients.maximumCount + 1)], false),
            ] as [(TestJSON, Bool)] {
                let body: TestJSON = ["content": "Tea!", "to": to]
                #expect((described.violation(about: body) == nil) == isFine, "\("\(to)".prefix(80))")
                #expect(
                    ((try? AnnouncementRequest.decode(try body.encoded())) != nil) == isFine, "\("\(to)".prefix(80))")
            }
        }
    }

    @Test(
        "Exactly the routes that store data for long count against the daily limit"
    ) func registering()
        async throws
    {
        try await Journey.run { journey in
            let document = try await Self.endpoint(journey).get("/openapi.json").json()
            let names = try operations(document).filter {
                String(decoding: try $0.operation["responses"]["429"].encoded(), as: UTF8.self)
                    .contains("too_many_registrations")
            }.map(\.name)
            #expect(
                Set(names) == [
                    "post /blocks", "post /calendar", "post /conversations", "post /invitations/{token}", "post /ntfy",
                    "post /preferences", "post /push/subscription", "post /questions/sessions", "post /series",
                    "post /task", "post /task/{id}/move", "post /task/{task}/conversation", "post /token",
                    "post /users",
                ])
        }
    }

    /// Codes that occur only on WebSockets.
    private static let codesOfSockets = ["too_many_questions"]

    @Test("The codes of the README's table are those of the routes") func codes() async throws {
        try await Journey.run { journey in
            let document = try await Self.endpoint(journey).get("/openapi.json").text
            var codes = 0
            for line in try Checkout.text("README.md").split(separator: "\n") {
                guard let row = line.firstMatch(of: #/^\| [0-9]{3} \| (`[a-z_`, ]+`) \|$/#) else { continue }
                for code in row.output.1.matches(of: #/[a-z_]+/#) {
                    guard !Self.codesOfSockets.contains(String(code.output)) else { continue }
                    codes += 1
                    #expect(document.contains("\"\(code.output)\""), "\(code.output) is in the README alone")
                }
            }
            #expect(codes > 30)
        }
    }

    @Test("The description of `deviceId` says that a plus sign in a query is a space") func plus() async throws {
        try await Journey.run { journey in
            let endpoint = try await Self.endpoint(journey)
            let document = try await endpoint.get("/openapi.json").json()
            let history = try #require(DescribedRoutes(document).operations["getHistory"])
            let device = try #require(parameters(of: history.description, document).first { $0["name"] == "deviceId" })
            #expect(device["description"].string?.contains("%2B") == true)
            let start = try await journey.instant(in: 3_600)
            let task = try await endpoint.register("anna+1", start)
            for (device, status) in [("anna+1", 404), ("anna%2B1", 200)] {
                let target = "/task/\(task.id.uuidString)?deviceId=\(device)"
                let answer = try await HTTPTestClient.request(at: endpoint, "DELETE", target)
                #expect(answer.status == status, "\(device)")
            }
        }
    }

    @Test("Every shared schema and parameter is used") func references()
        async throws
    {
        try await Journey.run { journey in
            let answer = try await Self.endpoint(journey).get("/openapi.json")
            let document = try answer.json()
            let used = Set(answer.text.matches(of: #/"\$ref":"([^"]+)"/#).map { String($0.output.1) })
            var defined: Set<String> = []
            for (kind, named) in document["components"].object ?? [:] {
                for name in (named.object ?? [:]).keys { defined.insert("#/components/\(kind)/\(name)") }
            }
            #expect(used == defined)
            let schemas = try #require(document["components"]["schemas"].object)
            for name in ["Error", "Message", "Question", "QuestionSession", "Task"] { #expect(schemas[name] != nil) }
        }
    }

    /// Returns the number of objects and enumerations in a document's schemas. A generated client has a type for each.
    private static func types(in json: TestJSON) -> Int {
        if let elements = json.array { return elements.reduce(0) { $0 + types(in: $1) } }
        let members = json.object ?? [:]
        let own = members["type"] == "object" || members["enum"]?.array != nil ? 1 : 0
        return members.filter { !["example", "examples"].contains($0.key) }.values.reduce(own) { $0 + types(in: $1) }
    }

    @Test("A generated client has at most 120 types") func types() async throws {
        try await Journey.run { journey in
            let document = try await Self.endpoint(journey).get("/openapi.json").json()
            let count = Self.types(in: ["paths": document["paths"], "components": document["components"]])
            #expect((40...120).contains(count))
        }
    }

    @Test("Help consists of commands with this server's address") func help() async throws {
        try await Journey.run { journey in
            let endpoint = try await Self.endpoint(journey)
            let help = try await endpoint.get("/help")
            #expect(help.headers["Content-Type"]?.hasPrefix("text/plain") == true)
            let commands = help.text.split(separator: "\n").filter { $0.hasPrefix("curl ") }
            #expect(commands.count > 15)
            for command in commands { #expect(command.contains("http://\(endpoint)/"), "\(command)") }
            // A command that reads, run unchanged.
            let health = try #require(commands.first { $0.hasSuffix("/healthz") })
            let shell = try await ChildProcess.start(
                "/bin/sh", ["-c", String(health)], environment: ["PATH": "/usr/bin:/bin"])
            #expect(try await shell.waitForExit() == .exited(0))
            #expect(shell.text(of: .output) == #"{"status":"ok"}"#)
        }
    }
}
