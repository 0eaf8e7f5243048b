import Delivery
import Foundation
import Settings
import TestSupport
import Testing
import Wire

@testable import APIDescription
@testable import LetsSwitch

/// What the server says of its routes.
@Suite struct OpenAPITests {
    /// A daemon that has every route.
    static func endpoint(_ journey: Journey) async throws -> ClientEndpoint {
        try await journey.daemon { configuration in
            configuration.providers.ntfy.server = "https://ntfy.example"
            configuration.openQuestions = true
            configuration.echo = true
        }
    }

    /// Method and path, and the operation.
    private func operations(_ document: TestJSON) throws -> [(name: String, path: String, operation: TestJSON)] {
        try #require(document["paths"].object).flatMap { path, item in
            (item.object ?? [:]).map { ("\($0.key) \(path)", path, $0.value) }
        }
    }

    @Test("Every route says what it is, each parameter of its path, and what comes of it") func routes() async throws {
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
                let declared = (operation["parameters"].array ?? []).filter { $0["in"] == "path" }
                #expect(Set(named) == Set(declared.compactMap { $0["name"].string }), "\(name)")
                #expect(operation["requestBody"] == .absent || !name.hasPrefix("get "), "\(name)")
            }
            let identities = operations.compactMap { $0.operation["operationId"].string }
            #expect(Set(identities).count == operations.count)
        }
    }

    /// What is told on WebSockets alone.
    private static let codesOfSockets = ["too_many_questions"]

    @Test("The codes of the README's table are those of the routes") func codes() async throws {
        try await Journey.run { journey in
            let document = try await Self.endpoint(journey).get("/openapi.json").text
            let readme = MetricsPages.directory.deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "README.md")
            var codes = 0
            for line in try String(contentsOf: readme, encoding: .utf8).split(separator: "\n") {
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

    @Test("Help is commands that have this server's address") func help() async throws {
        try await Journey.run { journey in
            let endpoint = try await Self.endpoint(journey)
            let help = try await endpoint.get("/help")
            #expect(help.headers["Content-Type"]?.hasPrefix("text/plain") == true)
            let commands = help.text.split(separator: "\n").filter { $0.hasPrefix("curl ") }
            #expect(commands.count > 15)
            for command in commands { #expect(command.contains("http://\(endpoint)/"), "\(command)") }
            // One that reads, as it stands there.
            let health = try #require(commands.first { $0.hasSuffix("/healthz") })
            let shell = try await ChildProcess.start(
                "/bin/sh", ["-c", String(health)], environment: ["PATH": "/usr/bin:/bin"])
            #expect(try await shell.waitForExit() == .exited(0))
            #expect(shell.text(of: .output) == #"{"status":"ok"}"#)
        }
    }
}
