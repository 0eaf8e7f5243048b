import FoundationEssentials
import Messaging

/// The questions of a session that have changed and are yet to be told of, each once however much happens to it. A value.
///
/// What happens to a question but for votes comes first, in its order. Votes have the rest of the room, each question in its turn: so
/// whoever votes up and down all the time neither keeps an answer from anybody nor the votes for other questions.
struct PendingChanges {
    /// Told of at once.
    static let limit = QuestionPage.maximumCount

    private var marks: [UUID: ChangedQuestions.Mark] = [:]
    private var urgent: [UUID] = []
    private var voted: [UUID] = []

    var isEmpty: Bool { marks.isEmpty }

    mutating func add(_ mark: ChangedQuestions.Mark) {
        let id = mark.question
        guard var known = marks[id] else {
            marks[id] = mark
            if mark.isVoted { voted.append(id) } else { urgent.append(id) }
            return
        }
        known.wasAnswered = known.wasAnswered || mark.wasAnswered
        if known.isVoted, !mark.isVoted {
            known.isVoted = false
            voted.removeAll { $0 == id }
            urgent.append(id)
        }
        marks[id] = known
    }

    /// Those that are told of next.
    var next: [ChangedQuestions.Mark] {
        let some = urgent.prefix(Self.limit)
        return (some + voted.prefix(Self.limit - some.count)).compactMap { marks[$0] }
    }

    /// So many of ``next`` were told of.
    mutating func remove(_ count: Int) {
        let told = next.prefix(count)
        for mark in told { marks[mark.question] = nil }
        urgent.removeFirst(told.count { !$0.isVoted })
        voted.removeFirst(told.count { $0.isVoted })
    }
}
