import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// Prometheus' tool that checks metrics and rules.
private enum Promtool {
    static let path = "/usr/bin/promtool"
    static let isInstalled = FileManager.default.isExecutableFile(atPath: path)

    /// Returns the tool's output. Records an issue if the tool fails.
    static func run(_ arguments: [String], input: String = "/dev/null") async throws -> String {
        let process = try await ChildProcess.start(
            "/bin/sh", ["-c", "exec \"$@\" <\"$0\"", input, path] + arguments,
            environment: DaemonProcess.cleanEnvironment())
        let status = try await process.waitForExit()
        let output = process.lines.all.map(\.text).joined(separator: "\n")
        #expect(status == .exited(0), "\(output)")
        return output
    }
}

/// Checks the metrics page, the alert rules and the dashboard with promtool.
@Suite(
    .enabled(if: TestBroker.isWanted, "they are of the long tests: make interop-prometheus"),
    .enabled(if: Promtool.isInstalled, "promtool is missing: make setup-interop"))
struct PrometheusTests {
    private func file(_ name: String) -> String {
        MetricsPages.directory.appending(path: "Prometheus/\(name)").path
    }

    @Test("promtool accepts the rules, and their tests pass") func rules() async throws {
        #expect(try await Promtool.run(["check", "rules", file("letsswitch.rules.yml")]).contains("SUCCESS"))
        #expect(try await Promtool.run(["test", "rules", file("letsswitch.rules.test.yml")]).contains("SUCCESS"))
    }

    @Test("promtool accepts the dashboard's expressions") func dashboard() async throws {
        let dashboard = try TestJSON(parsing: Array(MetricsPages.text("Prometheus/dashboard.json").utf8))
        let expressions = (dashboard["panels"].array ?? []).flatMap { $0["targets"].array ?? [] }.compactMap {
            $0["expr"].string
        }
        #expect(expressions.count > 20)
        // The expressions are written as rules, because promtool can check rules.
        let rules = expressions.enumerated().map { index, expression -> TestJSON in
            ["record": .string("dashboard:\(index)"), "expr": .string(expression)]
        }
        let groups: TestJSON = ["groups": [["name": "dashboard", "rules": .array(rules)]]]
        let path = "\(TestClusterDirectories.shared.make())/rules.yml"
        // JSON is valid YAML.
        try Data(groups.encoded()).write(to: URL(filePath: path))
        #expect(try await Promtool.run(["check", "rules", path]).contains("SUCCESS: \(expressions.count)"))
    }

    @Test("promtool accepts the metrics page") func page() async throws {
        try await Journey.run { journey in
            let documented = Set(try MetricsPages.documented().map(\.name))
            let page = try await CountingDaemons(journey).page(with: documented)
            let path = "\(TestClusterDirectories.shared.make())/page"
            try Data(page.utf8).write(to: URL(filePath: path))
            #expect(try await Promtool.run(["check", "metrics"], input: path) == "")
        }
    }
}
