import Foundation
import JourneyTestSupport
import Testing

/// Tests of the checker of invitations: it must report each fault that it is made for.
@Suite struct InvitationLedgerTests {
    private static let hold = 90

    /// Ada has invited, Bob has accepted, and Cleo hasn't.
    private struct Scenario {
        var ledger = InvitationLedger()
        var stored = StoredSchedule()
        let link = InvitationLedger.Link(token: "token", host: "ada", task: UUID())
        let guest = UUID()
        let stranger = UUID()

        init(isAccepted: Bool = true) {
            invite()
            if isAccepted {
                accept(guest, "bob")
                pair(guest, "bob")
            } else {
                stored.tasks = [task(link.task, "ada"), task(guest, "bob"), task(stranger, "cleo")]
            }
        }

        mutating func invite() { ledger.invited(link, began: ledger.begin()) }

        mutating func accept(_ id: UUID, _ device: String, partner: String = "ada") {
            ledger.accepted(link, guest: id, device: device, partner: partner, began: ledger.begin())
        }

        /// Stores a match of Ada with this partner.
        mutating func pair(_ id: UUID, _ device: String) {
            let others = [(guest, "bob"), (stranger, "cleo")].filter { $0.0 != id }.map { task($0.0, $0.1) }
            stored.tasks =
                [task(link.task, "ada", with: id, device), task(id, device, with: link.task, "ada")] + others
        }

        private func task(
            _ id: UUID, _ device: String, with partner: UUID? = nil, _ name: String? = nil
        ) -> StoredSchedule.Task {
            StoredSchedule.Task(
                id: id, device: device, slot: 1_000, room: UUID(), partner: partner, partnerDevice: name, isDue: false,
                waiting: 1, remindsAt: 900)
        }

        var violations: [String] { ledger.violations(in: stored, hold: hold) }
    }

    @Test("The ledger accepts a waiting host and a guest who leaves")
    func fine() {
        #expect(Scenario(isAccepted: false).violations == [])
        var scenario = Scenario()
        #expect(scenario.violations == [])
        scenario.ledger.moved(scenario.guest, isCertain: true)
        scenario.pair(scenario.stranger, "cleo")
        #expect(scenario.violations == [])
        scenario.ledger.rebase(on: scenario.stored)
        #expect(scenario.violations == [])
        scenario.stored.tasks.removeAll { $0.id == scenario.guest }
        #expect(scenario.violations == [])
    }

    @Test("A link is used once, unless its owner may have asked for another guest")
    func uses() {
        var twice = Scenario()
        twice.accept(twice.stranger, "cleo")
        #expect(twice.violations.contains("bob and cleo have used the same invitation of ada"))
        var renewed = Scenario()
        renewed.invite()
        renewed.accept(renewed.stranger, "cleo")
        #expect(!renewed.violations.contains { $0.contains("used the same") })
        var uncertain = Scenario()
        uncertain.ledger.mayHaveInvited("ada", began: uncertain.ledger.begin())
        uncertain.accept(uncertain.stranger, "cleo")
        #expect(!uncertain.violations.contains { $0.contains("used the same") })
    }

    @Test("A guest by a link has the reported partner")
    func guests() {
        var lost = Scenario()
        lost.pair(lost.stranger, "cleo")
        #expect(lost.violations == ["bob came to ada at 1000, and has nobody"])
        var wrong = Scenario(isAccepted: false)
        wrong.accept(wrong.guest, "bob", partner: "cleo")
        wrong.pair(wrong.guest, "bob")
        #expect(wrong.violations == ["bob came to ada, and was matched with cleo"])
        var other = Scenario()
        other.ledger.invited(.init(token: "token", host: "cleo", task: other.stranger), began: other.ledger.begin())
        #expect(other.violations.contains { $0.contains("was another's") })
    }

    @Test(
        "A host who waits for a guest is matched only after the invitation has expired"
    )
    func strangers() {
        var scenario = Scenario(isAccepted: false)
        scenario.pair(scenario.stranger, "cleo")
        #expect(scenario.violations == ["ada at 1000 waits for a guest, and has cleo"])
        var late = scenario
        late.stored.now = 810
        #expect(late.violations == [])
        var uncertain = scenario
        uncertain.ledger.mayHaveAccepted(scenario.link, device: "cleo")
        #expect(uncertain.violations == [])
        uncertain.ledger.rebase(on: scenario.stored)
        #expect(uncertain.violations == [])
        // A host that has accepted another invitation no longer waits for a guest.
        var gone = scenario
        gone.ledger.mayHaveAccepted(.init(token: "other", host: "cleo", task: scenario.stranger), device: "ada")
        #expect(gone.violations == [])
    }
}
