import Testing

/// The two ways through the sources that a newcomer is led: short, and each stop is there.
@Suite struct JourneyTests {
    static let page = "Sources/README.md"

    @Test(
        "A journey has few stops, each a file in which what is named can be found",
        arguments: [
            ("## A byte, from the socket to the broadcast", 9), ("## A task, from curl to the reminder", 12),
        ])
    func stops(heading: String, most: Int) throws {
        let tree = try PageTree.repository()
        let stops = try #require(try tree.page(Self.page).steps(below: heading))
        #expect((3...most).contains(stops.count))
        for stop in stops {
            let files = MarkdownPage.links(in: stop).compactMap { PageTree.resolve($0, from: Self.page) }
            let text = files.compactMap(tree.read).joined(separator: "\n")
            #expect(!text.isEmpty, "\(stop)")
            for name in Self.names(in: stop) { #expect(text.contains(name), "\(name): \(stop)") }
        }
    }

    /// The identifiers that a stop names: of `Room.publish(_:)` the words before the parenthesis.
    private static func names(in stop: String) -> [Substring] {
        MarkdownPage.code(in: stop).flatMap { code in
            code.wholeMatch(of: #/([A-Za-z_.]+)(\(.*\))?/#)?.output.1.split(separator: ".") ?? []
        }
    }
}
