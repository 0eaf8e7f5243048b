import Foundation
import JourneyTestSupport
import Testing

/// Tests of the checker of rematch runs: it must report each fault that it is made for.
@Suite struct RematchLedgerTests {
    private static let slot = 1_800_000_000
    private static let ada = RematchLedger.Key(device: "ada", slot: slot)
    private static let bob = RematchLedger.Key(device: "bob", slot: slot)

    /// Ada and Bob are matched and reminded, and have seen it.
    private struct Scenario {
        var ledger = RematchLedger()
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
                    TaskLedger.Receipt(id: reminders[index], task: id, room: room, stream: 1), by: key.device)
            }
            ledger.sees("ada", [ada: .init(task: first, room: room, partner: "bob")])
        }

        func task(_ key: RematchLedger.Key, _ id: UUID, with partner: UUID?, _ name: String?) -> StoredSchedule.Task {
            StoredSchedule.Task(
                id: id, device: key.device, slot: key.slot, room: room, partner: partner, partnerDevice: name,
                isDue: true,
                waiting: 0)
        }

        var violations: [String] {
            ledger.violations(in: stored, slots: slot...slot, hold: 0, .rematches)
                + ledger.misunderstandings(in: stored, slots: slot...slot)
        }
    }

    @Test("The ledger accepts a correct run with unknown results")
    func fine() {
        var scenario = Scenario()
        #expect(scenario.violations.isEmpty, "\(scenario.violations)")
        scenario.ledger.markUncertain(.init(device: "cleo", slot: Self.slot))
        scenario.ledger.found(.init(device: "cleo", slot: Self.slot), absentBecause: .notFound)
        scenario.stored.tasks.append(scenario.task(.init(device: "cleo", slot: Self.slot), UUID(), with: nil, nil))
        let reminder = UUID()
        scenario.stored.reminders.append(.init(id: reminder, task: scenario.stored.tasks[2].id, state: "delivered"))
        scenario.ledger.received(
            .init(id: reminder, task: scenario.stored.tasks[2].id, room: nil, stream: 2), by: "cleo")
        #expect(scenario.violations.isEmpty, "\(scenario.violations)")
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
        var scenario = Scenario()
        let elsewhere = RematchLedger.Key(device: "ada", slot: Self.slot + 60)
        switch damage {
        case .lost: scenario.stored.tasks.removeFirst()
        case .cameBack: scenario.ledger.found(Self.ada, absentBecause: .takenBack)
        case .inTwoPairs:
            scenario.stored.tasks.append(
                scenario.task(.init(device: "cleo", slot: Self.slot), UUID(), with: scenario.first, "ada"))
        case .registeredTwice: scenario.ledger.registered(Self.ada, UUID(), isNew: true)
        case .vanished: scenario.ledger.found(Self.ada, absentBecause: .notFound)
        case .movedOntoAnother: scenario.ledger.moved(UUID(), from: elsewhere, to: Self.ada)
        case .takenByNothing: scenario.ledger.taken(elsewhere)
        case .notTold: scenario.ledger.sees("ada", [Self.ada: .init(task: scenario.first, room: UUID(), partner: nil)])
        case .unreceived: scenario.stored.reminders[0] = .init(id: UUID(), task: scenario.first, state: "delivered")
        case .receivedTwice:
            scenario.ledger.received(
                .init(id: scenario.reminders[0], task: scenario.first, room: scenario.room, stream: 1), by: "ada")
        case .notReminded: scenario.stored.reminders.removeFirst()
        }
        #expect(scenario.violations.contains { $0.contains(damage.rawValue) }, "\(scenario.violations)")
    }
}
