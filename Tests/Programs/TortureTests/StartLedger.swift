import Foundation

/// The starts that devices reported, according to the answers to their clients. The first report of a task counts.
struct StartLedger {
    private enum Word: Equatable {
        /// It is unknown whether a daemon received the report.
        case doubtful
        case heard
        /// Epoch seconds, as the history first showed them.
        case shown(Int)
    }

    private var words: [UUID: Word] = [:]
    private(set) var objections: [String] = []

    // MARK: Answers

    /// Notes a report before it is sent.
    mutating func says(_ task: UUID) {
        if words[task] == nil { words[task] = .doubtful }
    }

    /// Notes a `200` to a report.
    mutating func heard(_ task: UUID) {
        if words[task] == .doubtful { words[task] = .heard }
    }

    /// Returns whether a history that is requested from now on must show the start.
    func isHeard(_ task: UUID) -> Bool { words[task] ?? .doubtful != .doubtful }

    /// - Parameters:
    ///   - startedAt: Epoch seconds.
    ///   - wasHeard: Whether the report was acknowledged before the history was requested.
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

    /// Returns the violations. No request may be in progress.
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
