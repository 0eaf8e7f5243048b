import Domain
import FoundationEssentials

/// The changed questions of a session that must be published, each listed once. A value type.
///
/// Changes other than votes come first, in order. The remaining places are for votes, and the questions take turns. So
/// frequent votes for one question delay neither answers nor the votes for other questions.
struct PendingChanges {
    /// The maximum number of questions in one publication.
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

    /// The questions to publish next.
    var next: [ChangedQuestions.Mark] {
        let some = urgent.prefix(Self.limit)
        return (some + voted.prefix(Self.limit - some.count)).compactMap { marks[$0] }
    }

    /// Removes the first `count` questions of ``next`` after they were published.
    mutating func remove(_ count: Int) {
        let taken = next.prefix(count)
        for mark in taken { marks[mark.question] = nil }
        urgent.removeFirst(taken.count { !$0.isVoted })
        voted.removeFirst(taken.count { $0.isVoted })
    }
}
