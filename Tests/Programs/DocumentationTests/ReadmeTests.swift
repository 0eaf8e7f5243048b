import Features
import LetsSwitch
import Testing

@testable import Settings

/// Checks of the documentation: the targets of links, the length of the first page, and the flags that pages name.
@Suite struct ReadmeTests {
    private let tree: PageTree

    init() throws {
        tree = try PageTree.repository()
    }

    @Test("Every link has a target") func links() throws {
        #expect(tree.pages.count > 10)
        #expect(try tree.brokenLinks() == [])
    }

    @Test("The README's size stays within its limit") func firstPage() throws {
        #expect(try tree.page("README.md").lineCount <= 240)
    }

    @Test("Every target has a description that the map links to") func targets() throws {
        let manifest = try #require(tree.read("Package.swift"))
        let names = manifest.matches(of: #/\.(?:executableT|t)arget\(\s*name: "([^"]+)"/#).map { String($0.output.1) }
        let map = try tree.page("Sources/README.md").links
        let folders = names.compactMap(folder)
        #expect(folders.count > 5)
        for target in folders {
            #expect(tree.exists("Sources/\(target)/README.md"), "\(target)")
            #expect(map.contains("\(target)/README.md"), "\(target)")
            let words = try #require(tree.read("Sources/\(target)/README.md"))
            #expect(words.contains(#/## Reading order|Begin with|Read `/#), "\(target): where does one begin?")
        }
    }

    /// Returns the folder of a target below `Sources`: its layer and its name. System libraries have no page.
    private func folder(of target: String) -> String? {
        ["Programs", "Operations", "Features", "Core", "Platform", "Client"].map { "\($0)/\(target)" }
            .first { tree.exists("Sources/\($0)") }
    }

    @Test("The package doesn't compile pages") func pagesInManifest() throws {
        let manifest = try #require(tree.read("Package.swift"))
        for page in tree.pages {
            let parts = page.split(separator: "/", maxSplits: 3)
            guard parts.count == 4, parts[0] == "Sources" else { continue }
            let entry = try #require(
                manifest.firstMatch(of: try Regex(#"^ {4}"\#(parts[2])": \[[^\]]*\]"#).anchorsMatchLineEndings()),
                "\(page)")
            #expect(manifest[entry.range].contains("\"\(parts[3])\""), "\(page)")
        }
    }

    @Test("A page quotes --help exactly") func helpText() throws {
        for path in tree.pages {
            for block in try tree.page(path).codeBlocks where Self.isHelp(block) {
                #expect(HelpText.render().contains(block.joined(separator: "\n")), "\(path)")
            }
        }
    }

    /// Returns whether a block has a flag and its description in the form of `--help`.
    private static func isHelp(_ block: [String]) -> Bool {
        zip(block, block.dropFirst()).contains { $0.hasPrefix("  --") && $1.hasPrefix("        ") }
    }

    /// Flags of the benchmark, of systemctl and of `letsswitch`.
    private static let flagsOfOthers = [
        "--only", "--rounds", "--now", "--at", "--zone", "--server", "--device", "--invite", "--kind", "--help",
    ]

    @Test("Every flag that a page names exists") func flags() throws {
        let help = HelpText.render()
        for path in tree.pages {
            let named = try tree.page(path).lines.flatMap { line in
                line.matches(of: #/--[a-z][a-z-]+/#).map { String($0.output) }
            }
            for flag in Set(named).subtracting(Self.flagsOfOthers) {
                #expect(help.contains(try Regex("\(flag)(?![a-z-])")), "\(path): \(flag)")
            }
        }
    }

    @Test("The page about settings has the groups of --help") func groups() throws {
        let rows = try tree.page("Sources/Operations/Settings/SETTINGS.md").lines.drop { !$0.hasPrefix("| group of") }
            .dropFirst(2).prefix { $0.hasPrefix("| ") }
        let named = rows.flatMap { row in
            row.dropFirst(2).split(separator: " | ").first?.split(separator: ", ").map(String.init) ?? []
        }
        #expect(named.sorted() == SettingSection.allCases.map(\.rawValue).sorted())
    }

    @Test("The daemon's manual lists every command, and only existing flags") func manual() throws {
        let manual = try #require(tree.read("Sources/Programs/letsswitchd/letsswitchd.8")).replacing("\\-", with: "-")
        let help = HelpText.render()
        let commands = help.matches(of: #/(?:Usage:|\n {6}) letsswitchd \[?([a-z]+)/#).map { String($0.output.1) }
        #expect(commands.count > 4)
        for command in commands { #expect(manual.contains(command), "\(command)") }
        for flag in Set(manual.matches(of: #/--[a-z][a-z-]+/#).map { String($0.output) }) {
            #expect(help.contains(try Regex("\(flag)(?![a-z-])")), "\(flag)")
        }
    }
}
