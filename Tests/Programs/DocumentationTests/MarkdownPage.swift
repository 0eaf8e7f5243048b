/// The parts of a page that tests check: links, anchors, code blocks and numbered lists.
struct MarkdownPage {
    let lines: [String]
    /// The lines, with those of code blocks left empty.
    private let prose: [String]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var isInCode = false
        prose = lines.map { line in
            if line.hasPrefix("```") {
                isInCode.toggle()
                return ""
            }
            return isInCode ? "" : line
        }
    }

    /// The number of lines. A line feed at the end doesn't begin another line.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    /// The targets of links and pictures, such as `Wire/README.md#states` or `https://…`.
    var links: [String] { Self.links(in: prose.joined(separator: "\n")) }

    /// The anchors of the headings, which links name after `#`. Made like GitHub makes them.
    var anchors: Set<String> {
        var anchors: Set<String> = []
        for case let line in prose where line.hasPrefix("#") {
            let heading = line.drop { $0 == "#" }
            guard heading.first == " " else { continue }
            let kept = heading.dropFirst().lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            let anchor = kept.replacing(" ", with: "-")
            let repeats = (1...).lazy.map { "\(anchor)-\($0)" }.first { !anchors.contains($0) }
            anchors.insert(anchors.contains(anchor) ? repeats ?? anchor : anchor)
        }
        return anchors
    }

    /// The lines of each code block.
    var codeBlocks: [[String]] {
        lines.split(omittingEmptySubsequences: false) { $0.hasPrefix("```") }.enumerated()
            .filter { $0.offset % 2 == 1 }.map { Array($0.element) }
    }

    /// Returns the items of the numbered list below a heading, each as one line; `nil` if there is no such heading.
    func steps(below heading: String) -> [String]? {
        guard let start = lines.firstIndex(of: heading) else { return nil }
        var steps: [String] = []
        for line in prose[(start + 1)...] {
            if line.hasPrefix("#") { break }
            if let item = line.prefixMatch(of: #/[0-9]+\. +/#) {
                steps.append(String(line[item.range.upperBound...]))
            } else if line.hasPrefix("   "), let last = steps.indices.last {
                steps[last] += " " + line.drop { $0 == " " }
            }
        }
        return steps
    }

    /// Returns the targets of links in a text. Ignores inline code.
    static func links(in prose: String) -> [String] {
        prose.replacing(#/`[^`]*`/#, with: "").matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.output.1) }
    }
}
