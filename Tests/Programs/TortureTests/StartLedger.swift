import Foundation

/// Who has said that it has started, by what the clients were told: the first time counts, and stays.
struct StartLedger {
    private enum Word: Equatable {
        /// Nobody knows whether it was heard.
        case doubtful
        case heard
        /// Epoch seconds, as the history showed it first.
        case shown(Int)
    }

    private var words: [UUID: Word] = [:]
    private(set) var objections: [String] = []

    // MARK: Answers

    /// Before it is said.
    mutating func says(_ task: UUID) {
        if words[task] == nil { words[task] = .doubtful }
    }

    /// `200`.
    mutating func heard(_ task: UUID) {
        if words[task] == .doubtful { words[task] = .heard }
    }

    /// Whether a history that is asked for from now on has to show it.
    func isHeard(_ task: UUID) -> Bool { words[task] ?? .doubtful != .doubtful }

    /// - Parameters:
    ///   - startedAt: Epoch seconds.
    ///   - wasHeard: Before the history was asked for.
    mutating func shown(_ task: UUID, _ startedAt: Int?, wasHeard: Bool) {
        switch (words[task], startedAt) {
        case (.shown(let first)?, let startedAt) where startedAt != first:
            objections.append(
                "the history of \(task) shows \(startedAt.map { "\($0)" } ?? "nothing"), and has shown \(first)")
        case (_, nil) where wasHeard: objections.append("the history of \(task) doesn't show that it has started")
        case (nil, .some): objections.append("the history of \(task) shows that it has started, which nobody said")
        case (_, let startedAt?): words[task] = .shown(startedAt)
        case (_, nil): break
        }
    }

    // MARK: Judging

    /// For a moment at which nothing is under way.
    func violations(in stored: StoredSchedule) -> [String] {
        objections
            + stored.tasks.compactMap { task -> String? in
                switch (words[task.id], task.startedAt) {
                case (nil, nil), (.doubtful?, _), (.heard?, .some): nil
                case (.shown(let first)?, let startedAt) where startedAt == first: nil
                case (let word, let startedAt):
                    "\(task.device) at \(task.slot) has started at \(startedAt.map { "\($0)" } ?? "no time"), and was told \(word.map { "\($0)" } ?? "nothing")"
                }
            }
    }
}
