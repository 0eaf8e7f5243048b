import Foundation
import Scheduling

/// The database's content, as the checker looks at it.
struct StoredSchedule: Equatable {
    struct Task: Equatable {
        let id: UUID
        /// Empty when its person was erased: then only the match is left.
        let device: String
        /// Epoch seconds.
        let slot: Int
        let room: UUID
        let partner: UUID?
        /// The device of the partner's task, if that task is there, and its person.
        let partnerDevice: String?
        /// Whether its minute has come.
        let isDue: Bool
        /// Rows that wait for the claim.
        let waiting: Int
        /// Epoch seconds.
        var remindsAt = 0
        /// It waits for its guest, and for nobody else.
        var waitsForGuest = false
        /// Epoch seconds; when its person said that it had started.
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
    /// With their ids.
    var blocks: [Regard: UUID] = [:]
    var preferences: [Regard: UUID] = [:]
    /// Who has one.
    var series: Set<String> = []
    /// Of whom something is left to be deleted.
    var erasing: Set<String> = []
    /// The database's clock after all of this was read; epoch seconds.
    var now = 0

    /// That one device has blocked, or prefers, another.
    struct Regard: Hashable {
        let device: String
        let other: String

        var reversed: Regard { Regard(device: other, other: device) }
    }

    /// What people may do to one another, and so what may be there.
    enum Stage {
        /// Nobody leaves a partner.
        case promises
        /// Promises are taken back and moved, too: after the lead somebody may wait beside those whom nobody has joined.
        case partings
        /// Some have started: what couldn't be delivered by then is missed.
        case started
    }

    /// What can't be, whatever the clients were told.
    ///
    /// - Parameter strangers: Who may wait beside one another, since one has blocked the other, if only for a time.
    func contradictions(_ stage: Stage = .promises, strangers: Set<Regard> = []) -> [String] {
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

    private func matchContradictions(_ stage: Stage, _ strangers: Set<Regard>) -> [String] {
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
                    $0 != one && strangers.isDisjoint(with: [one.regard(of: $0), $0.regard(of: one)])
                }
            }
            if !able.isEmpty { contradictions.append("\(able.count) wait for one another at \(slot)") }
        }
        return contradictions
    }
}

extension StoredSchedule.Task {
    func regard(of other: StoredSchedule.Task) -> StoredSchedule.Regard {
        StoredSchedule.Regard(device: device, other: other.device)
    }
}
