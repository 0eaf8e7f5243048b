import Foundation
import TestSupport
import Testing

/// The rule for test names: a sentence that states what must be true, with a capital letter and without a full stop. A
/// suite is named by its type.
@Suite struct TestNameTests {
    /// Names that begin with a small letter. A sentence may begin with one of them.
    private static let names: Set = [
        "amqplib", "bash", "curl", "gzip", "iOS", "letsswitch", "letsswitchd", "libpq", "nginx", "ntfy", "nuxt",
        "openapi-spec-validator", "openssl", "pika", "promtool", "psql", "schemathesis", "startsAt", "systemd",
        "x-death", "zlib",
    ]

    /// Returns the attributes of tests and suites without a name, or with one that breaks the rule.
    private func faults(in source: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0.drop { $0 == " " }) }
        return zip(lines, lines.dropFirst() + [""]).compactMap { line, next -> String? in
            guard let attribute = ["@Test", "@Suite"].first(where: { line.hasPrefix($0) }) else { return nil }
            let rest = line.dropFirst(attribute.count)
            if rest.first?.isLetter == true { return nil }
            let arguments = rest == "(" ? next : String(rest.dropFirst())
            let hasSentence = rest.hasPrefix("(") && arguments.hasPrefix("\"")
            if attribute == "@Suite" { return hasSentence ? line + next : nil }
            guard hasSentence else { return line + next }
            let sentence = arguments.dropFirst().prefix { $0 != "\"" }
            return isWell(sentence) ? nil : String(sentence)
        }
    }

    private func isWell(_ sentence: Substring) -> Bool {
        guard let first = sentence.first, sentence.last != "." else { return false }
        if !first.isLowercase { return true }
        return Self.names.contains { name in
            sentence.hasPrefix(name) && sentence.dropFirst(name.count).first?.isLetter != true
        }
    }

    @Test("Every test is named by a sentence")
    func sentences() throws {
        let root = Checkout.url("Tests").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 100)
        for file in files {
            let source = try String(contentsOfFile: "\(root)/\(file)", encoding: .utf8)
            #expect(faults(in: source) == [], "\(file)")
        }
    }

    @Test(
        "A missing or malformed test name is found",
        arguments: [
            ("@Test func works() {}", 1), ("    @Test(arguments: [1, 2])\n    func works(_ x: Int) {}", 1),
            ("@Test(\n    .serialized)", 1), ("@Test(\"it works\") func works() {}", 1), ("@Test(\"It works.\")", 1),
            ("@Test(\"\") func works() {}", 1), ("@Suite(\"Works\") struct Works {}", 1), ("@Suite(.serialized)", 0),
            ("@Test(\"It works\") func works() {}", 0), ("@Test(\n    \"It works\",\n    arguments: [1])", 0),
            ("@Test(\"curl's way\")", 0), ("@Test(\"curls\")", 1), ("@testable import Wire", 0),
        ])
    func found(source: String, count: Int) {
        #expect(faults(in: source).count == count)
    }
}
