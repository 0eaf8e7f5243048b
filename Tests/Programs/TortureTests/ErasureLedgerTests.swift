import Foundation
import Testing

/// Tests of the checker of erasures: it must report each fault that it is made for.
@Suite struct ErasureLedgerTests {
    private static let slot = 1_000

    /// Ada was Bob's partner and was erased. Only her match is left.
    private struct Scene {
        var ledger = PartingLedger()
        var stored = StoredSchedule()
        let task = UUID()
        let partner = UUID()
        let room = UUID()
        let regards = [UUID(), UUID()]

        init() {
            ledger.registered(key("ada"), task, isNew: true)
            ledger.registered(key("bob"), partner, isNew: true)
            ledger.regards.made(.block, .init(device: "ada", other: "cleo"), regards[0], isNew: true)
            ledger.regards.made(.preference, .init(device: "bob", other: "ada"), regards[1], isNew: true)
            let known = ledger.erases("ada")
            ledger.erased("ada", regards: known)
            stored.tasks = [entry(task, "", with: partner, "bob"), entry(partner, "bob", with: task, nil)]
        }

        func key(_ device: String) -> PartingLedger.Key { .init(device: device, slot: slot) }

        func entry(
            _ id: UUID, _ device: String, with other: UUID?, _ name: String?, at slot: Int = slot
        ) -> StoredSchedule.Task {
            StoredSchedule.Task(
                id: id, device: device, slot: slot, room: room, partner: other, partnerDevice: name, isDue: false,
                waiting: 1)
        }

        var violations: [String] {
            ledger.violations(in: stored, slots: slot...slot, hold: 0, .partings)
                + ledger.misunderstandings(in: stored, slots: slot...slot)
        }
    }

    @Test("The ledger accepts the remaining match, its end, and an erased person's return as somebody new")
    func fine() {
        var scene = Scene()
        scene.ledger.sees("bob", [scene.key("bob"): .init(task: scene.partner, room: scene.room, partner: nil)])
        #expect(scene.violations == [])
        scene.ledger.erasures.rebase(on: scene.stored)
        #expect(scene.violations == [])
        let cleo = UUID()
        scene.ledger.registered(.init(device: "cleo", slot: Self.slot), cleo, isNew: true)
        scene.ledger.erasures.made(cleo, began: scene.ledger.invitations.begin())
        let new = UUID()
        scene.ledger.registered(scene.key("ada"), new, isNew: true)
        scene.stored.tasks += [
            scene.entry(new, "ada", with: cleo, "cleo"), scene.entry(cleo, "cleo", with: new, "ada"),
        ]
        let room = UUID()
        for number in 2...3 {
            let task = scene.stored.tasks[number]
            scene.stored.tasks[number] = StoredSchedule.Task(
                id: task.id, device: task.device, slot: task.slot, room: room, partner: task.partner,
                partnerDevice: task.partnerDevice, isDue: false, waiting: 1)
        }
        #expect(scene.violations == [])
    }

    enum Damage: String, CaseIterable {
        case stays = "was erased, and its task"
        case comesBack = "is there, and shouldn't be"
        case isPaired = "was paired with"
        case isPairedAnew = "was paired anew with"
        case isAlone = "is nobody's, and in no match"
        case hasSeries = "was erased, and has a series"
        case hasSeriesTask = "was erased, and has a task at"
        case isRegarded = "is there, and one of them was erased"
        case goesOn = "is being erased still"
        case partnerNotTold = "believes"
    }

    @Test("The ledger reports whatever is left of an erased person", arguments: Damage.allCases)
    func objects(_ damage: Damage) {
        var scene = Scene()
        switch damage {
        case .stays: scene.stored.tasks[0] = scene.entry(scene.task, "ada", with: scene.partner, "bob")
        case .comesBack: scene.stored.tasks.append(scene.entry(UUID(), "ada", with: nil, nil))
        case .isPaired: scene.ledger.erasures.made(scene.partner, began: scene.ledger.invitations.begin())
        case .isPairedAnew:
            scene.ledger.erasures.rebase(on: scene.stored)
            scene.stored.tasks[0] = scene.entry(scene.task, "", with: UUID(), "cleo")
        case .isAlone: scene.stored.tasks[0] = scene.entry(scene.task, "", with: nil, nil)
        case .hasSeries: scene.stored.series = ["ada"]
        case .hasSeriesTask:
            scene.stored.tasks.append(scene.entry(UUID(), "ada", with: nil, nil, at: Self.slot + 86_400))
        case .isRegarded: scene.stored.preferences = [.init(device: "bob", other: "ada"): scene.regards[1]]
        case .goesOn: scene.stored.erasing = ["ada"]
        case .partnerNotTold:
            scene.ledger.sees("bob", [scene.key("bob"): .init(task: scene.partner, room: scene.room, partner: "ada")])
        }
        #expect(scene.violations.contains { $0.contains(damage.rawValue) }, "\(scene.violations)")
    }

    @Test("The ledger accepts what may have been in flight during an erasure")
    func doubts() {
        var scene = Scene()
        // A late answer, about data from before the erasure.
        scene.ledger.regards.made(.block, .init(device: "bob", other: "ada"), UUID(), isNew: true)
        scene.ledger.regards.undone(.preference, .init(device: "bob", other: "ada"), wasThere: false)
        scene.ledger.sees("bob", nil)
        #expect(scene.violations == [])
        var series = PartingLedger()
        series.erasures.beginsSeries("ada")
        series.erased("ada", regards: series.erases("ada"))
        var stored = StoredSchedule()
        stored.series = ["ada"]
        #expect(series.violations(in: stored, slots: Self.slot...Self.slot, hold: 0, .partings) == [])
        #expect(series.erasures.mayErase("ada", after: 0) && !series.erasures.mayErase("bob", after: 0))
    }
}
