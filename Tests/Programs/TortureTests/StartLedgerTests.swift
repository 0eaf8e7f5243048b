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

    @Test("A start reported once is stored once and shown, and no other is")
    func once() {
        var ledger = StartLedger()
        #expect(ledger.violations(in: stored(nil)) == [])
        #expect(ledger.violations(in: stored(5)) != [])
        ledger.says(task)
        for startedAt in [nil, 5] { #expect(ledger.violations(in: stored(startedAt)) == []) }
        #expect(!ledger.isHeard(task))
        ledger.heard(task)
        #expect(ledger.isHeard(task))
        #expect(ledger.violations(in: stored(nil)) != [])
        ledger.shown(task, 5, wasHeard: true)
        ledger.says(task)
        ledger.heard(task)
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
        #expect(objections { $0.shown(task, nil, wasHeard: false) } == 0)
        #expect(objections { $0.shown(task, 5, wasHeard: false) } == 1)
        let heard = { (ledger: inout StartLedger) in
            ledger.says(task)
            ledger.heard(task)
        }
        #expect(
            objections {
                heard(&$0)
                $0.shown(task, nil, wasHeard: true)
            } == 1)
        for (second, count) in [(5, 0), (6, 1), (nil, 1)] {
            #expect(
                objections {
                    heard(&$0)
                    $0.shown(task, 5, wasHeard: true)
                    $0.shown(task, second, wasHeard: true)
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
