import FoundationEssentials
import LetsSwitchClient

/// The commands `ask` and `listen` for a question session.
struct QuestionRun {
    let questions: Questions
    let output: Output

    /// Asks a question, and returns when the server has stored it.
    func ask(_ content: String) async throws {
        let asked = try await questions.asked(content)
        try output.writeObject(asked.source, asked.sentence)
    }

    /// Shows a session's questions and their changes.
    func listen() async throws {
        var view = QuestionView()
        // Clears the status line, so that the shell's prompt doesn't follow it.
        defer { if output.isTerminal { try? output.rewrite(nil, below: "") } }
        for try await item in questions.items {
            guard output.isTerminal else {
                if let source = item.source { try output.writeObject(source, source) }
                continue
            }
            let lines = view.receive(item.event)
            try output.rewrite(lines.isEmpty ? nil : lines.joined(separator: "\n"), below: view.status)
        }
    }
}
