import LetsSwitchClient

/// The terminal's text about a question session: a line for each event, and a status line with the number of
/// participants. A value.
struct QuestionView {
    private enum State {
        case connecting
        /// In the session, with the number of participants once it is known.
        case entered(Int?)
        case waiting(Duration)
    }

    private var state = State.connecting

    /// Returns the lines of an event, or none if only the status line changes.
    mutating func receive(_ event: Questions.Event) -> [String] {
        switch event {
        case .entered:
            state = .entered(nil)
            return []
        case .presence(let count):
            state = .entered(count)
            return []
        case .waiting(let wait):
            state = .waiting(wait)
            return []
        case .list(let questions, _): return questions.map(Self.line)
        case .changed(let question): return [Self.line(question)]
        case .announced(let text): return [Output.indented("Announcement: \(text)")]
        case .state(let isOpen): return ["The session is \(isOpen ? "open" : "closed")."]
        case .answered: return ["Your question was answered."]
        case .refused(let reason): return [reason]
        case .removed, .closed: return []
        }
    }

    /// The status line.
    var status: String {
        switch state {
        case .connecting, .entered(nil): ""
        case .entered(1?): "only you are here"
        case .entered(let count?): "\(count) people are here"
        case .waiting(let wait): "not connected; trying again in \(wait.roundedUpSeconds) s"
        }
    }

    private static func line(_ question: Question) -> String {
        let answer = question.answer.map { " — \($0)" } ?? (question.isAnswered ? " — answered" : "")
        return Output.indented("\(question.votes) × \(question.content)\(answer)")
    }
}
