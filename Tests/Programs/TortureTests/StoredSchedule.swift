import Foundation
import Reminders

/// The database's content that the checkers need.
struct StoredSchedule: Equatable {
    struct Task: Equatable {
        let id: UUID
        /// Empty if the device was erased. Only the match is left then.
        let device: String
        /// Epoch seconds.
        let slot: Int
        let room: UUID
        let partner: UUID?
        /// The device of the partner's task; `nil` if there is no such task, or if its device was erased.
        let partnerDevice: String?
        /// Whether the time of its reminder has come.
        let isDue: Bool
        /// The number of rows that wait for a claim.
        let waiting: Int
        /// Epoch seconds.
        var remindsAt = 0
        /// Whether the task waits for its guest and can't be matched with anybody else.
        var waitsForGuest = false
        /// The reported start in epoch seconds.
        var startedAt: Int?

        var isErased: Bool { device.isEmpty }
    }

    struct Reminder: Equatable {
        let id: UUID
        let task: UUID
        let state: String
    }

    var tasks: [Task] = []
    var reminders: [Reminder] = []
    /// The blocks and preferences, with their ids.
    var blocks: [Relation: UUID] = [:]
    var preferences: [Relation: UUID] = [:]
    /// The devices that have a series.
    var series: Set<String> = []
    /// The devices whose data isn't completely erased yet.
    var erasing: Set<String> = []
    /// The database's clock in epoch seconds, after everything else was read.
    var now = 0

    /// A block or a preference of a device, and the other device that it is about.
    struct Relation: Hashable {
        let device: String
        let other: String

        var reversed: Relation { Relation(device: other, other: device) }
    }

    /// What users may do in a run. It decides what may be stored.
    enum Stage {
        /// No user leaves a partner.
        case promises
        /// Tasks are also cancelled and moved. After the lead several unmatched tasks may wait in one slot.
        case rematches
        /// Some tasks have started. Reminders that couldn't be delivered before are missed.
        case started
    }

    /// Returns what must not be stored, whatever the clients received.
    ///
    /// - Parameter strangers: Devices that may wait in the same slot, because one has blocked the other at some time.
    func contradictions(_ stage: Stage = .promises, strangers: Set<Relation> = []) -> [String] {
        var contradictions: [String] = []
        let byID = Dictionary(grouping: tasks, by: \.id)
        let remindersOf = Dictionary(grouping: reminders, by: \.task)
        for task in tasks {
            let name = "task \(task.id) of \(task.device) at \(task.slot)"
            if let partner = task.partner {
                guard let other = byID[partner]?.first else {
                    contradictions.append("\(name): its partner isn't there")
                    continue
                }
                if other.partner != task.id { contradictions.append("\(name): its partner has another") }
                if other.slot != task.slot { contradictions.append("\(name): its partner starts at another time") }
                if other.device == task.device, !task.isErased { contradictions.append("\(name): paired with itself") }
                if other.room != task.room { contradictions.append("\(name): its partner has another room") }
                if task.waitsForGuest { contradictions.append("\(name): waits for a guest beside its partner") }
            } else if task.isErased {
                contradictions.append("\(name): is nobody's, and in no match")
            }
            switch (task.isDue, task.waiting, remindersOf[task.id]?.count ?? 0) {
            case (false, 1, 0), (true, 0, 1): break
            case (let isDue, let waiting, let count):
                contradictions.append("\(name): due \(isDue), waiting \(waiting) times, \(count) reminders")
            }
        }
        contradictions += matchContradictions(stage, strangers)
        for reminder in reminders {
            guard let task = byID[reminder.task]?.first else {
                contradictions.append("reminder \(reminder.id) without a task")
                continue
            }
            if task.isErased { continue }
            if reminder.state != "delivered", stage != .started || reminder.state == "pending" {
                contradictions.append("reminder \(reminder.id) is \(reminder.state)")
            }
        }
        return contradictions
    }

    private func matchContradictions(_ stage: Stage, _ strangers: Set<Relation>) -> [String] {
        var contradictions: [String] = []
        for (room, members) in Dictionary(grouping: tasks.filter { $0.partner != nil }, by: \.room)
        where members.count != 2 {
            contradictions.append("the match of room \(room) has \(members.count) tasks")
        }
        for (slot, tasks) in Dictionary(grouping: tasks, by: \.slot) {
            for (device, own) in Dictionary(grouping: tasks.filter { !$0.isErased }, by: \.device) where own.count > 1 {
                contradictions.append("\(device) has \(own.count) tasks at \(slot)")
            }
            let single = tasks.filter { $0.partner == nil && !$0.waitsForGuest && (stage == .promises || !$0.isDue) }
            let able = single.filter { one in
                single.contains {
                    $0 != one && strangers.isDisjoint(with: [one.relation(of: $0), $0.relation(of: one)])
                }
            }
            if !able.isEmpty { contradictions.append("\(able.count) wait for one another at \(slot)") }
        }
        return contradictions
    }
}

extension StoredSchedule.Task {
    func relation(of other: StoredSchedule.Task) -> StoredSchedule.Relation {
        StoredSchedule.Relation(device: device, other: other.device)
    }
}
