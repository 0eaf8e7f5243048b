import Foundation
import Testing

/// Tests of the checker of preferences and blocks: it must report each fault that it is made for.
@Suite struct RelationLedgerTests {
    private static let relation = StoredSchedule.Relation(device: "ada", other: "bob")
    private let id = UUID()
    private let tasks = [UUID(), UUID()]

    /// Returns a schedule in which Ada and Bob are matched, or both wait.
    private func stored(_ kind: RelationLedger.Kind?, arePaired: Bool = false) -> StoredSchedule {
        var stored = StoredSchedule()
        switch kind {
        case .preference: stored.preferences = [Self.relation: id]
        case .block: stored.blocks = [Self.relation: id]
        case nil: break
        }
        let room = UUID()
        stored.tasks = ["ada", "bob"].enumerated().map { number, device in
            StoredSchedule.Task(
                id: tasks[number], device: device, slot: 1_000, room: arePaired ? room : UUID(),
                partner: arePaired ? tasks[1 - number] : nil,
                partnerDevice: arePaired ? ["bob", "ada"][number] : nil, isDue: false, waiting: 1)
        }
        return stored
    }

    private func ledger(_ kind: RelationLedger.Kind) -> RelationLedger {
        var ledger = RelationLedger()
        ledger.made(kind, Self.relation, id, isNew: true)
        return ledger
    }

    @Test(
        "An acknowledged preference or block exists until it is undone", arguments: RelationLedger.Kind.allCases
    )
    func acknowledged(_ kind: RelationLedger.Kind) {
        var ledger = ledger(kind)
        #expect(ledger.violations(in: stored(kind)) == [])
        #expect(ledger.violations(in: stored(nil)) != [])
        ledger.undone(kind, Self.relation, wasThere: true)
        #expect(ledger.violations(in: stored(nil)) == [])
        #expect(ledger.violations(in: stored(kind)) != [])
        ledger.markUncertain(kind, of: "ada")
        #expect(ledger.violations(in: stored(kind)) == [])
    }

    @Test(
        "A preference or block is created once and exists until it is undone", arguments: RelationLedger.Kind.allCases)
    func answers(_ kind: RelationLedger.Kind) {
        var twice = ledger(kind)
        twice.made(kind, Self.relation, UUID(), isNew: true)
        #expect(!twice.objections.isEmpty)
        var gone = ledger(kind)
        gone.undone(kind, Self.relation, wasThere: false)
        #expect(!gone.objections.isEmpty)
    }

    @Test(
        "A blocked user is never matched again until unblocked"
    )
    func blocked() {
        var ledger = ledger(.block)
        let pair = stored(.block, arePaired: true)
        // Ada may have blocked Bob while he was her partner.
        #expect(ledger.violations(in: pair) == [])
        var before = ledger
        before.rebase(on: pair)
        #expect(before.violations(in: pair) == [])

        ledger.rebase(on: stored(.block))
        #expect(ledger.violations(in: pair) == ["ada was given bob at 1000, whom it had blocked"])
        ledger.undoes(.block, Self.relation)
        #expect(ledger.violations(in: pair) == [])
    }

    @Test("Two users stay unmatched in a slot only if one has blocked the other")
    func strangers() {
        let waiting = stored(nil)
        #expect(waiting.contradictions(.rematches).contains("2 wait for one another at 1000"))
        var ledger = ledger(.block)
        ledger.undone(.block, Self.relation, wasThere: true)
        #expect(waiting.contradictions(.rematches, strangers: ledger.strangers(in: waiting)) == [])
        var guest = waiting
        guest.tasks[0].waitsForGuest = true
        #expect(guest.contradictions(.rematches) == [])
        var uncertain = RelationLedger()
        uncertain.markUncertain(.block, of: "bob")
        #expect(waiting.contradictions(.rematches, strangers: uncertain.strangers(in: waiting)) == [])
    }
}
