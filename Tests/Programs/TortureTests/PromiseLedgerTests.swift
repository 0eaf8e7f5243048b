import Foundation
import Scheduling
import Testing

/// Tests of the checker: it must report each fault that it is made for.
@Suite struct PromiseLedgerTests {
    private static let slot = 1_800_000_000
    private static let ada = PromiseLedger.Key(device: "ada", slot: slot)
    private static let bob = PromiseLedger.Key(device: "bob", slot: slot)

    /// A correct run: Ada and Bob are matched and have received their reminders. Cleo has no partner.
    private struct Scene {
        var ledger = PromiseLedger()
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
                let promise = PromiseHistory.Promise(
                    id: ids[number], room: room, partner: number == 1 ? "ada" : nil, isFixed: number == 1)
                ledger.note(PromiseLedger.Key(device: device, slot: slot)) {
                    $0.begin()
                    $0.registered(promise, isNew: true)
                }
                receive(number, as: reminders[number])
            }
        }

        mutating func receive(_ number: Int, as id: UUID, stream: Int = 1, room: UUID? = nil) {
            let room = room ?? (number < 2 ? rooms[0] : nil)
            ledger.received(
                PromiseLedger.Receipt(id: id, task: ids[number], room: room, stream: stream),
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
        var scene = Scene()
        #expect(scene.violations.isEmpty)
        // A repeat on another stream is allowed.
        scene.receive(0, as: scene.reminders[0], stream: 2)
        #expect(scene.violations.isEmpty)
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
        var scene = Scene()
        apply(damage, to: &scene)
        #expect(scene.violations.contains { $0.contains(damage.rawValue) }, "\(scene.violations)")
    }

    private func apply(_ damage: Damage, to scene: inout Scene) {
        let stranger = StoredSchedule.Task(
            id: UUID(), device: "dora", slot: Self.slot, room: scene.rooms[0], partner: scene.ids[0],
            partnerDevice: "ada", isDue: true, waiting: 0)
        func addStranger(_ task: StoredSchedule.Task) {
            scene.stored.tasks.append(task)
            let id = UUID()
            scene.stored.reminders.append(StoredSchedule.Reminder(id: id, task: task.id, state: "delivered"))
            scene.ledger.received(
                PromiseLedger.Receipt(id: id, task: task.id, room: task.partner == nil ? nil : task.room, stream: 1),
                by: task.device)
            scene.ledger.note(PromiseLedger.Key(device: task.device, slot: task.slot)) {
                $0.begin()
                $0.unanswered(.registration)
            }
        }
        switch damage {
        case .lostTask:
            scene.stored.tasks.removeLast()
            scene.stored.reminders.removeLast()
            scene.ledger = PromiseLedger()
            for (number, device) in ["ada", "bob", "cleo"].enumerated() {
                let promise = PromiseHistory.Promise(id: scene.ids[number])
                scene.ledger.note(PromiseLedger.Key(device: device, slot: Self.slot)) {
                    $0.registered(promise, isNew: true)
                }
                if number < 2 { scene.receive(number, as: scene.reminders[number]) }
            }
        case .otherTask:
            scene.ledger.note(Self.ada) {
                $0.registered(PromiseHistory.Promise(id: UUID()), isNew: false)
            }
        case .otherRoom:
            let room = UUID()
            scene.change(0, room: room)
            scene.change(1, room: room)
        case .lostPartner: scene.change(1, partner: .some(nil))
        case .thirdInTheMatch: addStranger(stranger)
        case .pairedWithItself: scene.change(1, device: "ada")
        case .twoSlots: scene.change(1, slot: Self.slot + 60)
        case .doubledTask: scene.change(2, device: "ada")
        case .twoSingles:
            addStranger(
                StoredSchedule.Task(
                    id: UUID(), device: "dora", slot: Self.slot, room: UUID(), partner: nil, partnerDevice: nil,
                    isDue: true, waiting: 0))
        case .lostReminder: scene.stored.reminders.remove(at: 1)
        case .doubledReminder:
            scene.stored.reminders.append(
                StoredSchedule.Reminder(id: UUID(), task: scene.ids[0], state: "delivered"))
        case .pendingReminder, .missedReminder:
            scene.stored.reminders[0] = StoredSchedule.Reminder(
                id: scene.reminders[0], task: scene.ids[0], state: damage == .pendingReminder ? "pending" : "missed")
        case .unclaimed: scene.change(2, waiting: 1)
        case .orphan:
            let id = UUID()
            scene.stored.reminders.append(StoredSchedule.Reminder(id: id, task: UUID(), state: "delivered"))
        case .unreceived:
            let id = UUID()
            scene.stored.reminders[2] = StoredSchedule.Reminder(id: id, task: scene.ids[2], state: "delivered")
        case .receivedTwice: scene.receive(0, as: scene.reminders[0])
        case .receivedUnderAnotherID: scene.receive(0, as: UUID(), stream: 2)
        case .receivedTheRoomOfAnother: scene.receive(0, as: scene.reminders[0], stream: 2, room: UUID())
        case .receivedByAnother:
            scene.ledger.received(
                PromiseLedger.Receipt(
                    id: scene.reminders[0], task: scene.ids[0], room: scene.rooms[0], stream: 1), by: "cleo")
        case .objection: scene.ledger.object("answered 500")
        }
    }
}
