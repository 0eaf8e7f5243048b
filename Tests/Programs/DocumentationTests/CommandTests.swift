import FoundationEssentials
import Testing

@testable import Settings

/// The daemon's commands in the pages. This build must accept each of them.
@Suite struct CommandTests {
    @Test("This build accepts every letsswitchd command in the pages")
    func commands() throws {
        let secret = FileManager.default.temporaryDirectory.appending(path: "ticket-secret-\(UUID())")
        try Data(repeating: 0x61, count: 40).write(to: secret)
        defer { try? FileManager.default.removeItem(at: secret) }
        let tree = try PageTree.repository()
        var count = 0
        for path in tree.pages {
            for command in Self.commands(in: try tree.page(path)) {
                count += 1
                let arguments = command.map { word in
                    switch word {
                    case "ROOM": UUID().uuidString
                    case "ticket-secret": secret.path
                    default: word
                    }
                }
                let hasSecret = arguments.contains { $0.hasPrefix("--ticket-secret") }
                let environment = hasSecret ? [:] : ["LETSSWITCH_TICKET_SECRET": String(repeating: "a", count: 40)]
                do {
                    _ = try CommandLineParser(environment: environment).parse(arguments)
                } catch {
                    // A command that is only mentioned may lack its arguments.
                    let isNamed = arguments.count == 1 && "\(error)".hasPrefix("\(arguments[0]): ")
                    #expect(isNamed, "\(path): letsswitchd \(command.joined(separator: " ")): \(error)")
                }
            }
        }
        #expect(count > 40)
    }

    /// Returns the arguments of each command in code blocks and inline code.
    private static func commands(in page: MarkdownPage) -> [[String]] {
        let lines = page.codeBlocks.flatMap { block in
            block.joined(separator: "\n").replacing("\\\n", with: " ").split(separator: "\n").map(String.init)
        }
        let prose = page.lines.flatMap { line in line.matches(of: #/`([^`]+)`/#).map { String($0.output.1) } }
        return (lines + prose).compactMap { text in
            var words = text.split(separator: " ").map(String.init)
            while let first = words.first, ["$", "sudo"].contains(first) { words.removeFirst() }
            guard words.first == "letsswitchd", words.count > 1, !words.contains("|") else { return nil }
            return words.dropFirst().prefix { $0 != "#" && $0 != "&" && !$0.hasPrefix(">") }
                .map { $0.filter { $0 != "[" && $0 != "]" } }
        }
    }
}
