import Domain
import Observability
import Scheduling

/// Ends series, and takes their promises back.
struct SeriesEnding: Sendable {
    let store: SeriesStore
    let partners: PartnerStore
    let news: TaskNews

    /// - Parameter leaves: Also promises that somebody counts on are taken back.
    /// - Returns: It with the promises that stay.
    func end(_ asked: OwnSeries, leaves: Bool) async throws -> Series {
        if leaves {
            // As long as the series is there a repeat goes on where this was interrupted.
            for task in try await store.find(asked).tasks where task.isPaired { _ = try await leave(task) }
        }
        var (series, promises) = try await store.end(asked)
        await news.promised(promises)
        if leaves {
            var staying: [TaskResponse] = []
            for task in series.tasks {
                if try await !leave(task) { staying.append(task) }
            }
            series.tasks = staying
        }
        return series
    }

    /// Takes a promise back that somebody counts on; false when it is too late.
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
    /// As the log has it.
    var logged: Log.Values {
        [
            "series": .string(id.text), "device": .device(device), "startTime": .string("\(startTime)"),
            "timeZone": .string(timeZone),
        ]
    }
}
