import Domain
import Observability

/// Ends series and cancels their tasks.
struct SeriesEnding: Sendable {
    let store: SeriesStore
    let partners: PartnerStore
    let news: TaskNews

    /// Ends the series and cancels its tasks.
    ///
    /// - Parameter leaves: Whether tasks with a partner are cancelled, too.
    /// - Returns: The series with the remaining tasks.
    func end(_ asked: OwnSeries, leaves: Bool) async throws -> Series {
        if leaves {
            // The series is deleted last, so a repeated request can continue after an interruption.
            for task in try await store.find(asked).tasks where task.isPaired { _ = try await leave(task) }
        }
        var (series, tasks) = try await store.end(asked)
        await news.seriesChanged(tasks)
        if leaves {
            var staying: [TaskResponse] = []
            for task in series.tasks {
                if try await !leave(task) { staying.append(task) }
            }
            series.tasks = staying
        }
        return series
    }

    /// Cancels a task that has a partner. Returns `false` if it is too late.
    private func leave(_ task: TaskResponse) async throws -> Bool {
        switch try await partners.leave(OwnTask(id: task.id, device: task.device)) {
        case .done(_, _, let newMatches):
            news.left(newMatches: newMatches)
            return true
        case .unchanged: return false
        case .refused(let error): return error.code == "no_such_task"
        }
    }
}

extension Series {
    /// The series for the log.
    var logged: Log.Values {
        [
            "series": .string(id.text), "device": .device(device), "startTime": .string("\(startTime)"),
            "timeZone": .string(timeZone),
        ]
    }
}
