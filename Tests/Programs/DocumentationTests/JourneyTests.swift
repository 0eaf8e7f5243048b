import Testing

/// The two ways through the sources that `Sources/README.md` describes for newcomers.
@Suite struct JourneyTests {
    static let page = "Sources/README.md"

    @Test(
        "Each step of a journey names files that exist and functions that these files declare",
        arguments: ["## An ale, from one socket to the others", "## A task, from curl to the reminder"])
    func stops(heading: String) throws {
        let tree = try PageTree.repository()
        let stops = try #require(try tree.page(Self.page).steps(below: heading))
        #expect(stops.count > 10)
        for stop in stops {
            let files = MarkdownPage.links(in: stop).compactMap { PageTree.resolve($0, from: Self.page) }
            #expect(!files.isEmpty, "\(stop)")
            let text = files.compactMap(tree.read).joined(separator: "\n")
            for name in Self.functions(in: stop) { #expect(Self.declares(name, in: text), "\(name): \(stop)") }
        }
    }

    @Test("A function that is only called doesn't count as declared") func calls() {
        #expect(
            Self.functions(in: "`run()` calls `stop` of [`F.swift`](F.swift), then `claim_due()`") == [
                "run", "claim_due",
            ])
        #expect(Self.declares("run", in: "    package func run<T>(_ body: T) {}"))
        #expect(Self.declares("claim_due", in: "CREATE FUNCTION letsswitch.claim_due(p_limit integer)"))
        #expect(!Self.declares("run", in: "loop.run()\nfunc runs() {}"))
    }

    /// Returns the functions that a step names, as in `publish()`.
    private static func functions(in stop: String) -> [String] {
        MarkdownPage.code(in: stop).compactMap { $0.wholeMatch(of: #/([A-Za-z_]+)\(\)/#).map { String($0.output.1) } }
    }

    /// Returns whether Swift or SQL declares a function of this name.
    private static func declares(_ name: String, in text: String) -> Bool {
        ["func \(name)(", "func \(name)<", "FUNCTION letsswitch.\(name)("].contains(where: text.contains)
    }
}
