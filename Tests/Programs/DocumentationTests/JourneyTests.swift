import Testing

/// The two ways through the sources that `Sources/README.md` describes for newcomers.
@Suite struct JourneyTests {
    static let page = "Sources/README.md"

    @Test(
        "Each file of a journey exists and declares the functions named after it",
        arguments: ["## An ale, from one socket to the others", "## A task, from curl to the reminder"])
    func files(heading: String) throws {
        let tree = try PageTree.repository()
        let page = try tree.page(Self.page)
        for stop in try #require(page.steps(below: heading)) { #expect(!Self.files(in: stop).isEmpty, "\(stop)") }
        let files = Self.files(in: try #require(Self.section(heading, of: page)))
        #expect(files.count > 30)
        for file in files {
            let text = PageTree.resolve(file.link, from: Self.page).flatMap(tree.read)
            #expect(text != nil, "\(file.link)")
            for name in file.functions {
                #expect(Self.declares(name, in: text ?? "", isSQL: file.isSQL), "\(file.link): \(name)")
            }
        }
    }

    @Test("A function belongs to the file that was linked last before it") func owners() {
        let files = Self.files(
            in: """
                `no()`. [`F.swift`](A/F.swift): `run()` calls `stop` of
                [`G.sql`](G.sql): `claim_due()`, `f()`. [a](B.md)
                """)
        #expect(files.map(\.link) == ["A/F.swift", "G.sql"])
        #expect(files.map(\.functions) == [["run"], ["claim_due", "f"]])
        #expect(files.map(\.isSQL) == [false, true])
    }

    @Test("A function call doesn't count as a declaration") func calls() {
        #expect(Self.declares("run", in: "    package func run<T>(_ body: T) {}", isSQL: false))
        #expect(Self.declares("claim_due", in: "CREATE FUNCTION reminders.claim_due(p_limit integer)", isSQL: true))
        #expect(!Self.declares("run", in: "loop.run()\nfunc runs() {}", isSQL: false))
        #expect(!Self.declares("claim_due", in: "SELECT * FROM reminders.claim_due(1)", isSQL: true))
    }

    @Test("A section ends before the next heading of its level") func sections() {
        let page = MarkdownPage("## Way\none\n### Part\ntwo\n\n## Other\nthree\n")
        #expect(Self.section("## Way", of: page) == "one\n### Part\ntwo\n")
        #expect(Self.section("## None", of: page) == nil)
    }

    /// A file that a journey links to, and the functions that it names before the next link.
    private struct LinkedFile {
        let link: String
        var functions: [String] = []

        var isSQL: Bool { link.hasSuffix(".sql") }
    }

    /// Returns the text below a heading of the second level; `nil` if there is no such heading.
    private static func section(_ heading: String, of page: MarkdownPage) -> String? {
        guard let start = page.lines.firstIndex(of: heading) else { return nil }
        return page.lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }.joined(separator: "\n")
    }

    /// Returns the Swift and SQL files that a text links to, in its order.
    private static func files(in text: String) -> [LinkedFile] {
        var files: [LinkedFile] = []
        for match in text.matches(of: #/\]\(([^)\s]+\.(?:swift|sql))\)|`([A-Za-z_]+)\(\)`/#) {
            if let link = match.output.1 {
                files.append(LinkedFile(link: String(link)))
            } else if let name = match.output.2, let last = files.indices.last {
                files[last].functions.append(String(name))
            }
        }
        return files
    }

    /// Returns whether Swift or SQL declares a function of this name.
    private static func declares(_ name: String, in text: String, isSQL: Bool) -> Bool {
        if isSQL { return text.matches(of: #/FUNCTION [a-z]+\.([a-z_]+)\(/#).contains { $0.output.1 == name } }
        return text.contains("func \(name)(") || text.contains("func \(name)<")
    }
}
