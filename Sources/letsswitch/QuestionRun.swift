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
        for try await item in questions.items {
            guard output.isTerminal else {
                if let source = item.source { try output.tell(source, source) }
                continue
            }
            for line in Self.lines(item.event) { try output.say(line) }
        }
    }

    private static func lines(_ event: Questions.Event) -> [String] {
        switch event {
        case .list(let questions, _): questions.map(line)
        case .changed(let question): [line(question)]
        case .announced(let text): [Output.indented("Announced: \(text)")]
        case .state(let isOpen): ["The session is \(isOpen ? "open" : "closed")."]
        case .answered: ["Your question was answered."]
        case .refused(let reason): [reason]
        case .waiting(let wait): ["not connected; again in \(wait.components.seconds) s"]
        case .entered, .removed, .closed: []
        }
    }

    private static func line(_ question: Question) -> String {
        let answer = question.answer.map { " — \($0)" } ?? (question.isAnswered ? " — answered" : "")
        return Output.indented("\(question.votes) × \(question.content)\(answer)")
    }
}
