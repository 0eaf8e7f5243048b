import LetsSwitchClient

/// What a terminal shows of a session of questions: what has happened, line by line, and below that how many are there. A value.
struct QuestionView {
    private enum State {
        case connecting
        /// Entered; how many are there, once that was told.
        case entered(Int?)
        case waiting(Duration)
    }

    private var state = State.connecting

    /// The lines of an event; none for what shows below only.
    mutating func heard(_ event: Questions.Event) -> [String] {
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
        case .announced(let text): return [Output.indented("Announced: \(text)")]
        case .state(let isOpen): return ["The session is \(isOpen ? "open" : "closed")."]
        case .answered: return ["Your question was answered."]
        case .refused(let reason): return [reason]
        case .removed, .closed: return []
        }
    }

    /// The line below: it changes while many come and go.
    var status: String {
        switch state {
        case .connecting, .entered(nil): ""
        case .entered(1?): "you are alone"
        case .entered(let count?): "\(count) are here"
        case .waiting(let wait): "not connected; again in \(wait.roundedUpSeconds) s"
        }
    }

    private static func line(_ question: Question) -> String {
        let answer = question.answer.map { " — \($0)" } ?? (question.isAnswered ? " — answered" : "")
        return Output.indented("\(question.votes) × \(question.content)\(answer)")
    }
}
