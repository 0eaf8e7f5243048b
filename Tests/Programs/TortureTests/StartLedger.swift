import Foundation

/// The starts that devices reported, according to the answers to their clients. The first report of a task counts.
struct StartLedger {
    private enum Report: Equatable {
        /// It is unknown whether a daemon acknowledged the report.
        case uncertain
        case acknowledged
        /// Epoch seconds, as the history first showed them.
        case shown(Int)
    }

    private var reports: [UUID: Report] = [:]
    private(set) var objections: [String] = []

    // MARK: Answers

    /// Notes a report before it is sent.
    mutating func willReport(_ task: UUID) {
        if reports[task] == nil { reports[task] = .uncertain }
    }

    /// Notes a `200` to a report.
    mutating func acknowledged(_ task: UUID) {
        if reports[task] == .uncertain { reports[task] = .acknowledged }
    }

    /// Returns whether a history that is requested from now on must show the start.
    func isAcknowledged(_ task: UUID) -> Bool { reports[task] ?? .uncertain != .uncertain }

    /// - Parameters:
    ///   - startedAt: Epoch seconds.
    ///   - wasAcknowledged: Whether the report was acknowledged before the history was requested.
    mutating func shown(_ task: UUID, _ startedAt: Int?, wasAcknowledged: Bool) {
        switch (reports[task], startedAt) {
        case (.shown(let first)?, let startedAt) where startedAt != first:
            objections.append(
                "the history of \(task) shows \(startedAt.map { "\($0)" } ?? "nothing"), and has shown \(first)")
        case (_, nil) where wasAcknowledged:
            objections.append("the history of \(task) doesn't show that it has started")
        case (nil, .some): objections.append("the history of \(task) shows a start that no client reported")
        case (_, let startedAt?): reports[task] = .shown(startedAt)
        case (_, nil): break
        }
    }

    // MARK: Judging

    /// Returns the violations. No request may be in progress.
    func violations(in stored: StoredSchedule) -> [String] {
        objections
            + stored.tasks.compactMap { task -> String? in
                switch (reports[task.id], task.startedAt) {
                case (nil, nil), (.uncertain?, _), (.acknowledged?, .some): nil
                case (.shown(let first)?, let startedAt) where startedAt == first: nil
                case (let report, let startedAt):
                    "\(task.device) at \(task.slot) has started at \(startedAt.map { "\($0)" } ?? "no time"), but the clients know \(report.map { "\($0)" } ?? "nothing")"
                }
            }
    }
}
