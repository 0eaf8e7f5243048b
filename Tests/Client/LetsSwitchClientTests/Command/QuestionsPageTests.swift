import Foundation
import LetsSwitchClient
import TestSupport
import Testing

/// Runs the commands of QUESTIONS.md, and compares their output with the page.
@Suite struct QuestionsPageTests {
    private struct Step {
        let command: String
        /// The printed output with shortened values. The same value has the same short form, such as `6B1D…`.
        var shown = ""
    }

    /// The commands of the page's blocks that begin with a prompt.
    private static func steps() throws -> [Step] {
        var steps: [Step] = []
        for block in try Checkout.text("Sources/Features/Questions/QUESTIONS.md").components(separatedBy: "```") {
            guard block.hasPrefix("\n$ ") else { continue }
            for line in block.split(separator: "\n") {
                if line.hasPrefix("$ ") {
                    steps.append(Step(command: String(line.dropFirst(2))))
                } else {
                    steps[steps.count - 1].shown += line
                }
            }
        }
        return steps
    }

    /// The values of shortened words.
    private struct Abbreviations {
        private var known: [String: String] = [:]

        /// Returns a text with all shortened words replaced by their values.
        func expanded(_ text: String) -> String {
            known.reduce(text) { $0.replacing($1.key, with: $1.value) }
        }

        /// Compares printed output with the shown text, and learns the values of new shortened words.
        ///
        /// - Returns: Whether the output matches.
        mutating func match(_ text: String, _ shown: String) throws -> Bool {
            let shown = expanded(shown)
            let short = shown.matches(of: #/[A-Za-z0-9]+…/#).map { String($0.output) }
            var pattern = NSRegularExpression.escapedPattern(for: shown)
            for word in short { pattern = pattern.replacing(word, with: "([A-Za-z0-9_.:-]+)") }
            guard let match = text.wholeMatch(of: try Regex(pattern)) else { return false }
            for (index, word) in short.enumerated() {
                let meaning = match.output[index + 1].substring.map(String.init)
                if let old = known[word], old != meaning { return false }
                known[word] = meaning
            }
            return true
        }
    }

    @Test("The commands of QUESTIONS.md print what the page shows")
    func session() async throws {
        let state = "/tmp/ls-page-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        try await RunningDaemon.with([]) { server, _ in
            let programs = URL(fileURLWithPath: try DaemonProcess.executable()).deletingLastPathComponent().path
            var environment = DaemonProcess.cleanEnvironment()
            environment.merge(["XDG_STATE_HOME": state, "LETSSWITCH_SERVER": "\(server)"]) { $1 }
            environment["PATH"] = "\(programs):/usr/bin:/bin"
            var (abbreviations, variables) = (Abbreviations(), "")
            let steps = try Self.steps()
            #expect(steps.count > 6)
            for step in steps {
                let command = abbreviations.expanded(step.command)
                guard command.wholeMatch(of: #/(\w+=[^ …]+ ?)+/#) == nil else {
                    variables += command + "\n"
                    continue
                }
                let typed = command.replacing("localhost:8080", with: "\(server)".dropFirst("http://".count))
                let process = try await ChildProcess.start(
                    "/bin/sh", ["-c", variables + typed], environment: environment)
                #expect(try await process.waitForExit() == .exited(0), "\(step.command)")
                let text = process.text(of: .output).split(separator: "\n").joined()
                let isAsShown = try abbreviations.match(text, step.shown)
                #expect(isAsShown, "\(step.command)\n\(text)\n\(step.shown)")
            }
        }
    }
}
