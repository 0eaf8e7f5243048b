import Foundation
import Testing

/// Tests of the checkers of starts and preferences: they must report each fault that they are made for.
@Suite struct StartLedgerTests {
    private let task = UUID()

    private func stored(_ startedAt: Int?) -> StoredSchedule {
        var stored = StoredSchedule()
        stored.tasks = [
            StoredSchedule.Task(
                id: task, device: "ada", slot: 1_000, room: UUID(), partner: UUID(), partnerDevice: "bob", isDue: true,
                waiting: 0, startedAt: startedAt)
        ]
        return stored
    }

    @Test("A reported start is stored once and shown")
    func once() {
        var ledger = StartLedger()
        #expect(ledger.violations(in: stored(nil)) == [])
        #expect(ledger.violations(in: stored(5)) != [])
        ledger.willReport(task)
        for startedAt in [nil, 5] { #expect(ledger.violations(in: stored(startedAt)) == []) }
        #expect(!ledger.isAcknowledged(task))
        ledger.acknowledged(task)
        #expect(ledger.isAcknowledged(task))
        #expect(ledger.violations(in: stored(nil)) != [])
        ledger.shown(task, 5, wasAcknowledged: true)
        ledger.willReport(task)
        ledger.acknowledged(task)
        #expect(ledger.violations(in: stored(5)) == [])
        for startedAt in [nil, 6] { #expect(ledger.violations(in: stored(startedAt)) != []) }
    }

    @Test("The history shows the reported starts and doesn't change")
    func history() {
        func objections(_ change: (inout StartLedger) -> Void) -> Int {
            var ledger = StartLedger()
            change(&ledger)
            return ledger.objections.count
        }
        #expect(objections { $0.shown(task, nil, wasAcknowledged: false) } == 0)
        #expect(objections { $0.shown(task, 5, wasAcknowledged: false) } == 1)
        let acknowledge = { (ledger: inout StartLedger) in
            ledger.willReport(task)
            ledger.acknowledged(task)
        }
        #expect(
            objections {
                acknowledge(&$0)
                $0.shown(task, nil, wasAcknowledged: true)
            } == 1)
        for (second, count) in [(5, 0), (6, 1), (nil, 1)] {
            #expect(
                objections {
                    acknowledge(&$0)
                    $0.shown(task, 5, wasAcknowledged: true)
                    $0.shown(task, second, wasAcknowledged: true)
                } == count)
        }
    }

    @Test("A preferred user is matched first")
    func preferred() {
        var ledger = ChoiceLedger()
        ledger.made(.init(slot: 1_000, chooser: "ada", preferred: "bob"))
        #expect(ledger.violations(in: stored(nil)) == [])
        var other = ChoiceLedger()
        other.made(.init(slot: 1_000, chooser: "ada", preferred: "cleo"))
        #expect(other.violations(in: stored(nil)) == ["ada prefers cleo, who waited at 1000, and has bob"])
        #expect(other.violations(in: StoredSchedule()).count == 1)
    }
}
