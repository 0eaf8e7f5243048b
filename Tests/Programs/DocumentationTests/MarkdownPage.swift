/// What there is to check in a page: its links, what can be linked to in it, its blocks of code, its numbered lists.
struct MarkdownPage {
    let lines: [String]
    /// The lines, with blocks of code left empty.
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

    /// How many lines it has; what follows the last line's end is none.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }

    /// Where it leads, pictures included: `Wire/README.md#states`, `https://…`.
    var links: [String] { Self.links(in: prose.joined(separator: "\n")) }

    /// What follows `#` in a link to one of its headings, as GitHub makes it.
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

    /// The lines of each block of code.
    var codeBlocks: [[String]] {
        lines.split(omittingEmptySubsequences: false) { $0.hasPrefix("```") }.enumerated()
            .filter { $0.offset % 2 == 1 }.map { Array($0.element) }
    }

    /// The items of the numbered list below a heading, each as one line; `nil` if there is no such heading.
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

    /// The targets of links in a piece of prose; what stands between backticks is no link.
    static func links(in prose: String) -> [String] {
        prose.replacing(#/`[^`]*`/#, with: "").matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.output.1) }
    }

    /// What stands between backticks in a piece of prose, link texts excepted.
    static func code(in prose: String) -> [String] {
        prose.replacing(#/\[[^\]]*\]\([^)]*\)/#, with: "").matches(of: #/`([^`]+)`/#).map { String($0.output.1) }
    }
}
