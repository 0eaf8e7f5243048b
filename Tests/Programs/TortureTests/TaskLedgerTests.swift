import Foundation
import Reminders
import Testing

/// Tests of the checker: it must report each fault that it is made for.
@Suite struct TaskLedgerTests {
    private static let slot = 1_800_000_000
    private static let ada = TaskLedger.Key(device: "ada", slot: slot)
    private static let bob = TaskLedger.Key(device: "bob", slot: slot)

    /// A correct run: Ada and Bob are matched and have received their reminders. Cleo has no partner.
    private struct Scenario {
        var ledger = TaskLedger()
        var stored = StoredSchedule()
        let ids = (0..<3).map { _ in UUID() }
        let reminders = (0..<3).map { _ in UUID() }
        let rooms = [UUID(), UUID()]

        init() {
            for (number, device) in ["ada", "bob", "cleo"].enumerated() {
                let (partner, room) = (number < 2 ? 1 - number : nil, rooms[number / 2])
                stored.tasks.append(
                    StoredSchedule.Task(
                        id: ids[number], device: device, slot: slot, room: room, partner: partner.map { ids[$0] },
                        partnerDevice: partner.map { ["ada", "bob"][$0] }, isDue: true, waiting: 0))
                stored.reminders.append(
                    StoredSchedule.Reminder(id: reminders[number], task: ids[number], state: "delivered"))
                let promise = TaskHistory.KnownTask(
                    id: ids[number], room: room, partner: number == 1 ? "ada" : nil, isFixed: number == 1)
                ledger.note(TaskLedger.Key(device: device, slot: slot)) {
                    $0.begin()
                    $0.registered(promise, isNew: true)
                }
                receive(number, as: reminders[number])
            }
        }

        mutating func receive(_ number: Int, as id: UUID, stream: Int = 1, room: UUID? = nil) {
            let room = room ?? (number < 2 ? rooms[0] : nil)
            ledger.received(
                TaskLedger.Receipt(id: id, task: ids[number], room: room, stream: stream),
                by: ["ada", "bob", "cleo"][number])
        }

        /// Changes members of a stored task.
        mutating func change(
            _ number: Int, device: String? = nil, slot: Int? = nil, room: UUID? = nil, partner: UUID?? = nil,
            waiting: Int? = nil
        ) {
            let old = stored.tasks[number]
            stored.tasks[number] = StoredSchedule.Task(
                id: old.id, device: device ?? old.device, slot: slot ?? old.slot, room: room ?? old.room,
                partner: partner ?? old.partner, partnerDevice: old.partnerDevice, isDue: old.isDue,
                waiting: waiting ?? old.waiting)
        }

        var violations: [String] { ledger.violations(in: stored) }
    }

    @Test("The ledger accepts a correct run")
    func fine() {
        var scenario = Scenario()
        #expect(scenario.violations.isEmpty)
        // A repeat on another stream is allowed.
        scenario.receive(0, as: scenario.reminders[0], stream: 2)
        #expect(scenario.violations.isEmpty)
    }

    /// The possible faults, and the checker's words for them.
    enum Damage: String, CaseIterable {
        case lostTask = "an acknowledged registration is lost"
        case otherTask = "the task has become another"
        case otherRoom = "the room is another"
        case lostPartner = "its partner has another"
        case thirdInTheMatch = "has 3 tasks"
        case pairedWithItself = "paired with itself"
        case twoSlots = "its partner starts at another time"
        case doubledTask = "ada has 2 tasks"
        case twoSingles = "2 wait for one another"
        case lostReminder = "0 reminders"
        case doubledReminder = "2 reminders"
        case pendingReminder = "is pending"
        case missedReminder = "is missed"
        case unclaimed = "waiting 1 times"
        case orphan = "without a task"
        case unreceived = "cleo never received"
        case receivedTwice = "received a reminder twice"
        case receivedUnderAnotherID = "ada received"
        case receivedTheRoomOfAnother = "was reminded of another room"
        case receivedByAnother = "cleo received"
        case objection = "answered 500"
    }

    @Test("The ledger reports each kind of fault", arguments: Damage.allCases)
    func objects(_ damage: Damage) {
        var scenario = Scenario()
        apply(damage, to: &scenario)
        #expect(scenario.violations.contains { $0.contains(damage.rawValue) }, "\(scenario.violations)")
    }

    private func apply(_ damage: Damage, to scenario: inout Scenario) {
        let stranger = StoredSchedule.Task(
            id: UUID(), device: "dora", slot: Self.slot, room: scenario.rooms[0], partner: scenario.ids[0],
            partnerDevice: "ada", isDue: true, waiting: 0)
        func addStranger(_ task: StoredSchedule.Task) {
            scenario.stored.tasks.append(task)
            let id = UUID()
            scenario.stored.reminders.append(StoredSchedule.Reminder(id: id, task: task.id, state: "delivered"))
            scenario.ledger.received(
                TaskLedger.Receipt(id: id, task: task.id, room: task.partner == nil ? nil : task.room, stream: 1),
                by: task.device)
            scenario.ledger.note(TaskLedger.Key(device: task.device, slot: task.slot)) {
                $0.begin()
                $0.unanswered(.registration)
            }
        }
        switch damage {
        case .lostTask:
            scenario.stored.tasks.removeLast()
            scenario.stored.reminders.removeLast()
            scenario.ledger = TaskLedger()
            for (number, device) in ["ada", "bob", "cleo"].enumerated() {
                let promise = TaskHistory.KnownTask(id: scenario.ids[number])
                scenario.ledger.note(TaskLedger.Key(device: device, slot: Self.slot)) {
                    $0.registered(promise, isNew: true)
                }
                if number < 2 { scenario.receive(number, as: scenario.reminders[number]) }
            }
        case .otherTask:
            scenario.ledger.note(Self.ada) {
                $0.registered(TaskHistory.KnownTask(id: UUID()), isNew: false)
            }
        case .otherRoom:
            let room = UUID()
            scenario.change(0, room: room)
            scenario.change(1, room: room)
        case .lostPartner: scenario.change(1, partner: .some(nil))
        case .thirdInTheMatch: addStranger(stranger)
        case .pairedWithItself: scenario.change(1, device: "ada")
        case .twoSlots: scenario.change(1, slot: Self.slot + 60)
        case .doubledTask: scenario.change(2, device: "ada")
        case .twoSingles:
            addStranger(
                StoredSchedule.Task(
                    id: UUID(), device: "dora", slot: Self.slot, room: UUID(), partner: nil, partnerDevice: nil,
                    isDue: true, waiting: 0))
        case .lostReminder: scenario.stored.reminders.remove(at: 1)
        case .doubledReminder:
            scenario.stored.reminders.append(
                StoredSchedule.Reminder(id: UUID(), task: scenario.ids[0], state: "delivered"))
        case .pendingReminder, .missedReminder:
            scenario.stored.reminders[0] = StoredSchedule.Reminder(
                id: scenario.reminders[0], task: scenario.ids[0],
                state: damage == .pendingReminder ? "pending" : "missed")
        case .unclaimed: scenario.change(2, waiting: 1)
        case .orphan:
            let id = UUID()
            scenario.stored.reminders.append(StoredSchedule.Reminder(id: id, task: UUID(), state: "delivered"))
        case .unreceived:
            let id = UUID()
            scenario.stored.reminders[2] = StoredSchedule.Reminder(id: id, task: scenario.ids[2], state: "delivered")
        case .receivedTwice: scenario.receive(0, as: scenario.reminders[0])
        case .receivedUnderAnotherID: scenario.receive(0, as: UUID(), stream: 2)
        case .receivedTheRoomOfAnother: scenario.receive(0, as: scenario.reminders[0], stream: 2, room: UUID())
        case .receivedByAnother:
            scenario.ledger.received(
                TaskLedger.Receipt(
                    id: scenario.reminders[0], task: scenario.ids[0], room: scenario.rooms[0], stream: 1), by: "cleo")
        case .objection: scenario.ledger.object("answered 500")
        }
    }
}
