import Foundation

/// All answers to the clients, and all reminders that their streams received. The database's final content is compared
/// with them.
struct TaskLedger {
    struct Key: Hashable {
        let device: String
        /// Epoch seconds.
        let slot: Int
    }

    /// A reminder that a stream received.
    struct Receipt: Equatable {
        let id: UUID
        let task: UUID
        let room: UUID?
        /// The stream's number. A device has one stream after the other.
        let stream: Int
    }

    private(set) var histories: [Key: TaskHistory] = [:]
    private(set) var receipts: [String: [Receipt]] = [:]
    private(set) var objections: [String] = []

    mutating func note(_ key: Key, _ change: (inout TaskHistory) -> Void) {
        change(&histories[key, default: TaskHistory()])
    }

    mutating func received(_ receipt: Receipt, by device: String) {
        receipts[device, default: []].append(receipt)
    }

    /// Notes something that must not happen.
    mutating func object(_ text: String) { objections.append(text) }

    mutating func databaseDies() {
        for key in histories.keys { histories[key]?.databaseDies() }
    }

    mutating func databaseDied() {
        for key in histories.keys { histories[key]?.databaseDied() }
    }

    /// Returns all violations. No request may be in progress.
    func violations(in stored: StoredSchedule) -> [String] {
        var violations = objections + stored.contradictions()
        var tasks: [Key: StoredSchedule.Task] = [:]
        for task in stored.tasks { tasks[Key(device: task.device, slot: task.slot)] = task }
        for key in Set(tasks.keys).union(histories.keys) {
            let history = histories[key] ?? TaskHistory()
            violations += (history.objections + history.contradictions(to: tasks[key]))
                .map { "\(key.device) at \(key.slot): \($0)" }
        }
        return violations + deliveryViolations(in: stored)
    }

    private func deliveryViolations(in stored: StoredSchedule) -> [String] {
        var violations: [String] = []
        let tasks = Dictionary(stored.tasks.map { ($0.id, $0) }) { first, _ in first }
        var missing = Dictionary(stored.reminders.map { ($0.id, $0.task) }) { first, _ in first }
        let known = missing
        for (device, receipts) in receipts {
            for receipt in receipts {
                missing[receipt.id] = nil
                guard known[receipt.id] == receipt.task, let task = tasks[receipt.task], task.device == device else {
                    violations.append("\(device) received \(receipt.id), which is no reminder of its own")
                    continue
                }
                if receipt.room != (task.partner == nil ? nil : task.room) {
                    violations.append("\(device) was reminded of another room than that of task \(task.id)")
                }
            }
            for (stream, receipts) in Dictionary(grouping: receipts, by: \.stream)
            where Set(receipts.map(\.id)).count < receipts.count {
                violations.append("\(device) received a reminder twice on stream \(stream)")
            }
        }
        for (id, task) in missing {
            violations.append("\(tasks[task]?.device ?? "nobody") never received \(id), the reminder of task \(task)")
        }
        return violations
    }
}
