/// A statement's changes to the tasks of a series, for metrics, the scheduler and the devices whose days have changed.
package struct SeriesTasks: Hashable, Sendable {
    package private(set) var made: [TaskResponse] = []
    package private(set) var retitled = 0
    package private(set) var cancelled = 0
    package private(set) var moved: [TaskResponse] = []
    package private(set) var newMatches = 0
    /// The changed days, except those of moved tasks. The database itself notifies every daemon of those.
    package private(set) var changes: [ScheduleChange] = []

    package var isEmpty: Bool { made.isEmpty && retitled == 0 && cancelled == 0 && moved.isEmpty }

    init(_ rows: [TaskRow]) throws {
        for row in rows where row.task != nil {
            let (task, change) = try row.decided()
            switch row.code {
            case "created":
                made.append(task)
                if task.isPaired { newMatches += 1 }
                changes.append(change)
            case "retitled":
                retitled += 1
                changes.append(change)
            case "cancelled":
                cancelled += 1
                changes.append(change)
            case "moved":
                moved.append(task)
                if task.isPaired { newMatches += 1 }
            default:
                // Nothing to report: the task is unchanged, or its partner has left.
                break
            }
        }
    }
}
