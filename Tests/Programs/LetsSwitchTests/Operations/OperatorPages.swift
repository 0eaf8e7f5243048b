import Foundation
import TestSupport

/// The pages for operators and the commands in them: `OPERATING.md` and the pages that it links to.
enum OperatorPages {
    /// Returns the pages by path.
    static func all() throws -> [String: String] {
        let first = "Sources/Programs/letsswitchd/OPERATING.md"
        let text = try Checkout.text(first)
        var pages = [first: text]
        for link in text.matches(of: #/\]\(([^)#:]+\.md)/#) {
            let path = Checkout.url(first).deletingLastPathComponent().appending(path: String(link.output.1))
                .standardized
            pages[String(path.path.dropFirst(Checkout.root.path.count))] = try String(contentsOf: path, encoding: .utf8)
        }
        return pages
    }

    /// Splits a page into its prose and its code blocks with their languages.
    private static func parts(_ page: String) -> (prose: String, blocks: [(language: Substring, lines: [Substring])]) {
        var prose: [Substring] = []
        var blocks: [(language: Substring, lines: [Substring])] = []
        var isInBlock = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if !isInBlock { blocks.append((line.dropFirst(3), [])) }
                isInBlock.toggle()
            } else if isInBlock {
                blocks[blocks.count - 1].lines.append(line)
            } else {
                prose.append(line)
            }
        }
        return (prose.joined(separator: "\n"), blocks)
    }

    /// Returns the blocks of a page that are commands.
    static func blocks(_ page: String) -> [String] {
        parts(page).blocks.compactMap { language, lines in
            guard let first = lines.first, language == "sh" || language.isEmpty && isCommand(first) else { return nil }
            return lines.joined(separator: "\n")
        }
    }

    /// Returns the commands of a page: the first line of each command block, and inline code that begins with a
    /// program's name.
    static func commands(in page: String) -> Set<String> {
        let inline = parts(page).prose.matches(of: #/`([^`]+)`/#).map { String($0.output.1.replacing("\n", with: " ")) }
        let first = blocks(page).compactMap { $0.components(separatedBy: "\n").first }
        return Set(inline.filter { $0.contains(" ") && isCommand($0) } + first)
    }

    private static let programs: Set = [
        "apt-get", "curl", "export", "letsswitch", "letsswitchd", "make", "man", "mv", "nginx", "openssl", "pg_dump",
        "promtool", "psql", "rm", "ssh", "sudo", "systemctl",
    ]

    private static func isCommand(_ line: some StringProtocol) -> Bool {
        line.hasPrefix("#!/") || line.split(separator: " ").first.map { programs.contains(String($0)) } ?? false
    }
}

/// The proof that a command of a page does what the page says.
enum CommandProof {
    /// `OperatorDocumentTests` or `OperatorCommandTests` runs the page's own text.
    case asWritten
    /// A suite runs the command with its own device, file or flag.
    case suite(String)
    /// No test runs the command. The text says why.
    case excepted(String)

    private static let machine = "it changes the machine, or wants one of its own: tried in a fresh Debian by hand"

    static let known: [String: CommandProof] = [
        "make run": .excepted("it builds a release and serves on port 8080: README.md, walked by hand"),
        "make install": .suite("PackageTests"),
        "make uninstall": .suite("PackageTests"),
        // The suite doesn't run lintian.
        "make deb": .suite("PackageTests"),
        "make bench-push": .excepted("it measures, for minutes"),
        "apt-get remove": .excepted(machine),
        "apt-get purge": .excepted(machine),
        "apt-get install libcurl4": .excepted(machine),
        "apt-get install postgresql-17": .excepted(machine),
        "sudo apt-get install ./.build/deb/letsswitchd_*.deb       # the daemon; ./.build/deb/letsswitch_*.deb is the command":
            .excepted(machine),
        "sudo make install                      # PREFIX=/usr/local, DESTDIR= for packagers": .excepted(machine),
        "systemctl edit letsswitchd": .excepted("it opens an editor"),
        "systemctl reload letsswitchd": .asWritten,
        "man letsswitchd": .excepted("it opens a pager"),
        "letsswitchd --help": .suite("DaemonCommandTests"),
        "letsswitchd check": .suite("DaemonCommandTests"),
        "letsswitchd backup": .suite("CommandLineTests"),
        "letsswitchd backup FILE": .asWritten,
        "letsswitchd restore FILE": .asWritten,
        "sudo letsswitchd backup /var/backups/letsswitch.dump": .asWritten,
        "sudo systemctl stop letsswitchd": .asWritten,
        "mv /var/lib/letsswitch/postgres /var/lib/letsswitch/postgres.old": .asWritten,
        #"pg_dump -Fc -Ox -f letsswitch.dump "$DATABASE_URL""#: .asWritten,
        "letsswitchd daemons": .suite("InspectionTests"),
        "letsswitchd rooms": .suite("InspectionTests"),
        "letsswitchd due": .suite("InspectionTests"),
        "letsswitchd deliveries": .suite("InspectionTests"),
        "letsswitchd sessions": .suite("InspectionTests"),
        "sudo letsswitchd due": .asWritten,
        "sudo letsswitchd connections": .asWritten,
        "letsswitchd connections": .suite("ControlTests"),
        "letsswitchd kick 81234": .suite("ControlTests"),
        "letsswitchd kick DEVICE": .suite("ControlTests"),
        "letsswitchd close ROOM": .suite("ControlTests"),
        "letsswitchd drain --rate 50": .suite("ControlTests"),
        "letsswitchd remind DEVICE": .suite("PersonCommandTests"),
        "letsswitchd export DEVICE": .suite("PersonCommandTests"),
        "letsswitchd erase DEVICE": .suite("PersonCommandTests"),
        "curl -s http://127.0.0.1:8080/metrics | grep HELP": .asWritten,
        "ssh -L 9464:127.0.0.1:9464 server": .excepted("it wants another machine"),
        "promtool test rules": .suite("PrometheusTests"),
        #"curl -s https://example.org/ntfy -d '{"deviceId":"anna-7c1f"}'"#: .asWritten,
        "curl -X DELETE 'https://example.org/ntfy?deviceId=anna-7c1f'": .asWritten,
        #"curl -s https://example.org/calendar -d '{"deviceId":"anna-7c1f"}'"#: .asWritten,
        "curl -X DELETE 'https://example.org/calendar?deviceId=anna-7c1f'": .asWritten,
        "openssl rand -base64 32 > ticket-secret": .asWritten,
        "letsswitchd ticket ada --for 1h --ticket-secret-file ticket-secret": .asWritten,
        "letsswitchd ticket": .asWritten,
        #"letsswitchd --listen 127.0.0.1:8080 --listen tls:0.0.0.0:443 \"#: .asWritten,
        "#!/bin/sh -e": .asWritten,
        "export DATABASE_URL='postgresql:///letsswitch'": .asWritten,
        #"nginx -p "$PWD" -c nginx.conf"#: .suite("NginxTests"),
    ]
}
