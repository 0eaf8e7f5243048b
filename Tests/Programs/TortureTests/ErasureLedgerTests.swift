import Foundation
import Testing

/// Tests of the checker of erasures: it must report each fault that it is made for.
@Suite struct ErasureLedgerTests {
    private static let slot = 1_000

    /// Ada was Bob's partner and was erased. Only her match is left.
    private struct Scenario {
        var ledger = RematchLedger()
        var stored = StoredSchedule()
        let task = UUID()
        let partner = UUID()
        let room = UUID()
        let relations = [UUID(), UUID()]

        init() {
            ledger.registered(key("ada"), task, isNew: true)
            ledger.registered(key("bob"), partner, isNew: true)
            ledger.relations.made(.block, .init(device: "ada", other: "cleo"), relations[0], isNew: true)
            ledger.relations.made(.preference, .init(device: "bob", other: "ada"), relations[1], isNew: true)
            let known = ledger.erases("ada")
            ledger.erased("ada", relations: known)
            stored.tasks = [entry(task, "", with: partner, "bob"), entry(partner, "bob", with: task, nil)]
        }

        func key(_ device: String) -> RematchLedger.Key { .init(device: device, slot: slot) }

        func entry(
            _ id: UUID, _ device: String, with other: UUID?, _ name: String?, at slot: Int = slot
        ) -> StoredSchedule.Task {
            StoredSchedule.Task(
                id: id, device: device, slot: slot, room: room, partner: other, partnerDevice: name, isDue: false,
                waiting: 1)
        }

        var violations: [String] {
            ledger.violations(in: stored, slots: slot...slot, hold: 0, .rematches)
                + ledger.misunderstandings(in: stored, slots: slot...slot)
        }
    }

    @Test("The ledger accepts the remaining match of an erased user")
    func fine() {
        var scenario = Scenario()
        scenario.ledger.sees(
            "bob", [scenario.key("bob"): .init(task: scenario.partner, room: scenario.room, partner: nil)])
        #expect(scenario.violations == [])
        scenario.ledger.erasures.rebase(on: scenario.stored)
        #expect(scenario.violations == [])
        let cleo = UUID()
        scenario.ledger.registered(.init(device: "cleo", slot: Self.slot), cleo, isNew: true)
        scenario.ledger.erasures.made(cleo, began: scenario.ledger.invitations.begin())
        let new = UUID()
        scenario.ledger.registered(scenario.key("ada"), new, isNew: true)
        scenario.stored.tasks += [
            scenario.entry(new, "ada", with: cleo, "cleo"), scenario.entry(cleo, "cleo", with: new, "ada"),
        ]
        let room = UUID()
        for number in 2...3 {
            let task = scenario.stored.tasks[number]
            scenario.stored.tasks[number] = StoredSchedule.Task(
                id: task.id, device: task.device, slot: task.slot, room: room, partner: task.partner,
                partnerDevice: task.partnerDevice, isDue: false, waiting: 1)
        }
        #expect(scenario.violations == [])
    }

    enum Damage: String, CaseIterable {
        case stays = "was erased, and its task"
        case comesBack = "is there, and shouldn't be"
        case isPaired = "was paired with"
        case isPairedAnew = "was paired anew with"
        case isAlone = "is nobody's, and in no match"
        case hasSeries = "was erased, and has a series"
        case hasSeriesTask = "was erased, and has a task at"
        case isRelated = "is there, and one of them was erased"
        case goesOn = "is being erased still"
        case partnerNotTold = "believes"
    }

    @Test("The ledger reports any remaining data of an erased user", arguments: Damage.allCases)
    func objects(_ damage: Damage) {
        var scenario = Scenario()
        switch damage {
        case .stays: scenario.stored.tasks[0] = scenario.entry(scenario.task, "ada", with: scenario.partner, "bob")
        case .comesBack: scenario.stored.tasks.append(scenario.entry(UUID(), "ada", with: nil, nil))
        case .isPaired: scenario.ledger.erasures.made(scenario.partner, began: scenario.ledger.invitations.begin())
        case .isPairedAnew:
            scenario.ledger.erasures.rebase(on: scenario.stored)
            scenario.stored.tasks[0] = scenario.entry(scenario.task, "", with: UUID(), "cleo")
        case .isAlone: scenario.stored.tasks[0] = scenario.entry(scenario.task, "", with: nil, nil)
        case .hasSeries: scenario.stored.series = ["ada"]
        case .hasSeriesTask:
            scenario.stored.tasks.append(scenario.entry(UUID(), "ada", with: nil, nil, at: Self.slot + 86_400))
        case .isRelated: scenario.stored.preferences = [.init(device: "bob", other: "ada"): scenario.relations[1]]
        case .goesOn: scenario.stored.erasing = ["ada"]
        case .partnerNotTold:
            scenario.ledger.sees(
                "bob", [scenario.key("bob"): .init(task: scenario.partner, room: scenario.room, partner: "ada")])
        }
        #expect(scenario.violations.contains { $0.contains(damage.rawValue) }, "\(scenario.violations)")
    }

    @Test("The ledger accepts what may have been in flight during an erasure")
    func uncertainRequests() {
        var scenario = Scenario()
        // A late answer, about data from before the erasure.
        scenario.ledger.relations.made(.block, .init(device: "bob", other: "ada"), UUID(), isNew: true)
        scenario.ledger.relations.undone(.preference, .init(device: "bob", other: "ada"), wasThere: false)
        scenario.ledger.sees("bob", nil)
        #expect(scenario.violations == [])
        var series = RematchLedger()
        series.erasures.beginsSeries("ada")
        series.erased("ada", relations: series.erases("ada"))
        var stored = StoredSchedule()
        stored.series = ["ada"]
        #expect(series.violations(in: stored, slots: Self.slot...Self.slot, hold: 0, .rematches) == [])
        #expect(series.erasures.mayErase("ada", after: 0) && !series.erasures.mayErase("bob", after: 0))
    }
}
