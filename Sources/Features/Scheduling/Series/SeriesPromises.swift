/// What a statement did to the promises of a series: for metrics, for the scheduler, and for those whose day has changed.
package struct SeriesPromises: Hashable, Sendable {
    package private(set) var made: [TaskResponse] = []
    package private(set) var retitled = 0
    package private(set) var cancelled = 0
    package private(set) var moved: [TaskResponse] = []
    package private(set) var newMatches = 0
    /// But for those who were moved: of these the database tells every daemon itself.
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
                // What stays as it is, and whose slot somebody has left.
                break
            }
        }
    }
}
