import FoundationEssentials
import LetsSwitchClient

/// Asking in a session of questions, or listening to one.
struct QuestionRun {
    let questions: Questions
    let output: Output

    /// Asks once, and returns when it is stored.
    func ask(_ content: String) async throws {
        let asked = try await questions.asked(content)
        try output.tell(asked.source, asked.sentence)
    }

    /// Shows a session's questions, and what becomes of them.
    func listen() async throws {
        var view = QuestionView()
        // What the shell says next is not to stand behind the line below.
        defer { if output.isTerminal { try? output.rewrite(nil, below: "") } }
        for try await item in questions.items {
            guard output.isTerminal else {
                if let source = item.source { try output.tell(source, source) }
                continue
            }
            let lines = view.heard(item.event)
            try output.rewrite(lines.isEmpty ? nil : lines.joined(separator: "\n"), below: view.status)
        }
    }
}
