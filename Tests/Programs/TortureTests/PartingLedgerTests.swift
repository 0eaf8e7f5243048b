import Foundation
import JourneyTestSupport
import Testing

/// Tests of the checker of partings: it must report each fault that it is made for.
@Suite struct PartingLedgerTests {
    private static let slot = 1_800_000_000
    private static let ada = PartingLedger.Key(device: "ada", slot: slot)
    private static let bob = PartingLedger.Key(device: "bob", slot: slot)

    /// Ada and Bob are matched and reminded, and have seen it.
    private struct Scene {
        var ledger = PartingLedger()
        var stored = StoredSchedule()
        let first = UUID()
        let second = UUID()
        let room = UUID()
        let reminders = [UUID(), UUID()]

        init() {
            stored.tasks = [task(ada, first, with: second, "bob"), task(bob, second, with: first, "ada")]
            for (index, key) in [ada, bob].enumerated() {
                let id = [first, second][index]
                ledger.registered(key, id, isNew: true)
                stored.reminders.append(StoredSchedule.Reminder(id: reminders[index], task: id, state: "delivered"))
                ledger.received(
                    PromiseLedger.Receipt(id: reminders[index], task: id, room: room, stream: 1), by: key.device)
            }
            ledger.sees("ada", [ada: .init(task: first, room: room, partner: "bob")])
        }

        func task(_ key: PartingLedger.Key, _ id: UUID, with partner: UUID?, _ name: String?) -> StoredSchedule.Task {
            StoredSchedule.Task(
                id: id, device: key.device, slot: key.slot, room: room, partner: partner, partnerDevice: name,
                isDue: true,
                waiting: 0)
        }

        var violations: [String] {
            ledger.violations(in: stored, slots: slot...slot, hold: 0, .partings)
                + ledger.misunderstandings(in: stored, slots: slot...slot)
        }
    }

    @Test("The ledger accepts a correct run, and doubtful results")
    func fine() {
        var scene = Scene()
        #expect(scene.violations.isEmpty, "\(scene.violations)")
        scene.ledger.doubt(.init(device: "cleo", slot: Self.slot))
        scene.ledger.found(.init(device: "cleo", slot: Self.slot), absentBecause: .notFound)
        scene.stored.tasks.append(scene.task(.init(device: "cleo", slot: Self.slot), UUID(), with: nil, nil))
        let reminder = UUID()
        scene.stored.reminders.append(.init(id: reminder, task: scene.stored.tasks[2].id, state: "delivered"))
        scene.ledger.received(.init(id: reminder, task: scene.stored.tasks[2].id, room: nil, stream: 2), by: "cleo")
        #expect(scene.violations.isEmpty, "\(scene.violations)")
    }

    enum Damage: String, CaseIterable {
        case lost = "is lost"
        case cameBack = "is there, and shouldn't be"
        case inTwoPairs = "its partner has another"
        case registeredTwice = "registered anew"
        case vanished = "a task is gone that was registered"
        case movedOntoAnother = "where it has another task"
        case takenByNothing = "is taken, by nothing"
        case notTold = "believes"
        case unreceived = "never received"
        case receivedTwice = "received a reminder twice"
        case notReminded = "0 reminders"
    }

    @Test("The ledger reports each kind of fault", arguments: Damage.allCases)
    func objects(_ damage: Damage) {
        var scene = Scene()
        let elsewhere = PartingLedger.Key(device: "ada", slot: Self.slot + 60)
        switch damage {
        case .lost: scene.stored.tasks.removeFirst()
        case .cameBack: scene.ledger.found(Self.ada, absentBecause: .takenBack)
        case .inTwoPairs:
            scene.stored.tasks.append(
                scene.task(.init(device: "cleo", slot: Self.slot), UUID(), with: scene.first, "ada"))
        case .registeredTwice: scene.ledger.registered(Self.ada, UUID(), isNew: true)
        case .vanished: scene.ledger.found(Self.ada, absentBecause: .notFound)
        case .movedOntoAnother: scene.ledger.moved(UUID(), from: elsewhere, to: Self.ada)
        case .takenByNothing: scene.ledger.taken(elsewhere)
        case .notTold: scene.ledger.sees("ada", [Self.ada: .init(task: scene.first, room: UUID(), partner: nil)])
        case .unreceived: scene.stored.reminders[0] = .init(id: UUID(), task: scene.first, state: "delivered")
        case .receivedTwice:
            scene.ledger.received(
                .init(id: scene.reminders[0], task: scene.first, room: scene.room, stream: 1), by: "ada")
        case .notReminded: scene.stored.reminders.removeFirst()
        }
        #expect(scene.violations.contains { $0.contains(damage.rawValue) }, "\(scene.violations)")
    }
}
