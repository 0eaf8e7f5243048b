import Foundation
import Testing

@Suite struct TaskHistoryTests {
    private let task = StoredSchedule.Task(
        id: UUID(), device: "ada", slot: 1_800_000_000, room: UUID(), partner: nil, partnerDevice: nil, isDue: false,
        waiting: 1)
    private var promise: TaskHistory.KnownTask { TaskHistory.KnownTask(id: task.id, room: task.room) }

    /// Returns a history after these steps. Each step is a request and its answer.
    private func history(_ steps: ((inout TaskHistory) -> Void)...) -> TaskHistory {
        var history = TaskHistory()
        for step in steps {
            history.begin()
            step(&history)
        }
        return history
    }

    private func isConsistent(_ history: TaskHistory, with task: StoredSchedule.Task?) -> Bool {
        history.objections.isEmpty && history.contradictions(to: task).isEmpty
    }

    @Test("An acknowledged task must exist until it is cancelled")
    func certain() {
        let registered = history({ $0.registered(promise, isNew: true) })
        #expect(isConsistent(registered, with: task))
        #expect(!isConsistent(registered, with: nil))
        let cancelled = history({ $0.registered(promise, isNew: true) }, { $0.cancelled(task.id) })
        #expect(isConsistent(cancelled, with: nil))
        #expect(!isConsistent(cancelled, with: task))
        let untouched = TaskHistory()
        #expect(isConsistent(untouched, with: nil))
        #expect(!isConsistent(untouched, with: task))
    }

    @Test("A request without an answer may have taken effect or not")
    func uncertain() {
        let maybe = history({ $0.unanswered(.registration) })
        #expect(isConsistent(maybe, with: nil) && isConsistent(maybe, with: task))
        let perhaps = history({ $0.registered(promise, isNew: true) }, { $0.unanswered(.cancellation) })
        #expect(isConsistent(perhaps, with: nil) && isConsistent(perhaps, with: task))
        let repeated = history({ $0.unanswered(.registration) }, { $0.registered(promise, isNew: false) })
        #expect(isConsistent(repeated, with: task))
        #expect(!isConsistent(repeated, with: nil))
    }

    @Test("A request without an answer may take effect later, until the database is killed")
    func late() {
        let open = history(
            { $0.registered(promise, isNew: true) }, { $0.unanswered(.cancellation) },
            { $0.registered(promise, isNew: false) })
        #expect(isConsistent(open, with: nil))
        let over = history(
            { $0.registered(promise, isNew: true) }, { $0.unanswered(.cancellation) },
            {
                $0.databaseDies()
                $0.databaseDied()
                $0.begin()
                $0.registered(promise, isNew: false)
            })
        #expect(!isConsistent(over, with: nil))
        // The database died while the later request was in progress. It is unknown which of the two came first.
        let during = history(
            { $0.registered(promise, isNew: true) }, { $0.unanswered(.cancellation) },
            {
                $0.databaseDies()
                $0.databaseDied()
                $0.registered(promise, isNew: false)
            })
        #expect(isConsistent(during, with: nil))
    }

    @Test("A request whose outcome is unknown at a kill stays unknown")
    func dying() {
        var history = history({ $0.registered(promise, isNew: true) })
        history.databaseDies()
        history.begin()
        history.unanswered(.cancellation)
        history.databaseDied()
        history.begin()
        history.registered(promise, isNew: false)
        #expect(isConsistent(history, with: nil))
    }

    @Test("A match stays even if a cancellation has an unknown outcome")
    func fixed() {
        var paired = promise
        paired.partner = "bob"
        paired.isFixed = true
        let kept = history({ $0.registered(paired, isNew: true) }, { $0.unanswered(.cancellation) })
        #expect(!isConsistent(kept, with: nil))
        #expect(!isConsistent(kept, with: task), "the partner is gone")
        let refused = history({ $0.registered(promise, isNew: true) }, { $0.kept() }, { $0.unanswered(.cancellation) })
        #expect(!isConsistent(refused, with: nil))
        #expect(isConsistent(refused, with: task))
        let cancelled = history({ $0.registered(paired, isNew: true) }, { $0.cancelled(task.id) })
        #expect(!cancelled.objections.isEmpty)
    }

    @Test("Contradictory answers are reported")
    func answers() {
        let other = TaskHistory.KnownTask(id: UUID(), room: UUID())
        var moved = promise
        moved.room = UUID()
        let contradictory = [
            history({ $0.registered(promise, isNew: true) }, { $0.registered(other, isNew: true) }),
            history({ $0.registered(promise, isNew: true) }, { $0.registered(other, isNew: false) }),
            history({ $0.registered(promise, isNew: true) }, { $0.registered(moved, isNew: false) }),
            history({ $0.registered(promise, isNew: true) }, { $0.notFound() }),
            history({ $0.registered(promise, isNew: true) }, { $0.registrationRefused() }),
            history({ $0.registered(promise, isNew: true) }, { $0.cancelled(UUID()) }),
            history({ $0.registered(promise, isNew: false) }),
            history({ $0.cancelled(UUID()) }),
            history({ $0.kept() }),
        ]
        for history in contradictory { #expect(!history.objections.isEmpty) }
        let fine = [
            history({ $0.notFound() }), history({ $0.registrationRefused() }),
            history({ $0.unanswered(.registration) }, { $0.cancelled(UUID()) }),
            history({ $0.unanswered(.registration) }, { $0.kept() }),
            history(
                { $0.registered(promise, isNew: true) }, { $0.unanswered(.cancellation) },
                { $0.registered(other, isNew: true) }),
        ]
        for history in fine { #expect(history.objections.isEmpty) }
    }
}
