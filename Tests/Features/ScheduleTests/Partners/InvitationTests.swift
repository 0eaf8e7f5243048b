import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// Tasks that wait for an invited guest.
@Suite struct InvitationTests {
    private static let nine = "2026-11-22T09:00:00Z"
    private static let ten = "2026-11-22T10:00:00Z"

    @Test(
        "A guest with the link becomes the partner, even if others wait"
    )
    func accept() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let host = try #require(try await database.invite("ada", Self.nine).task)
            let token = try #require(host.invitation)
            #expect(!host.isPaired)
            // The link is the same each time, and is returned only on request.
            #expect(try await database.invite("ada", Self.nine) == .repeated(host))
            #expect(try await database.register("ada", Self.nine).task?.invitation == nil)
            // Other users aren't matched with the task and don't see it.
            let bob = try #require(try await database.register("bob", Self.nine).task)
            #expect(!bob.isPaired)
            #expect(try await database.day("cem", "2026-11-22").slot("09:00")?.hasSomebodyElse == true)
            let invitation = try await database.invitations.read(token)
            #expect(invitation.title == "History" && invitation.startsAt.description == Self.nine)
            #expect(invitation.closesAt.description == "2026-11-22T08:59:00Z" && invitation.startTime == "09:00")

            let accepted = try await database.accept("eva", token, "Art")
            let eva = try #require(accepted.task)
            #expect(accepted.isCreated && eva.isPaired && eva.partnerTitle == "History")
            #expect(eva.socketId == host.socketId && eva.invitation == nil)
            #expect(accepted.change?.devices.map(\.text) == ["eva", "ada"])
            #expect(try await database.accept("eva", token, "Art") == .repeated(eva))
            #expect(try await database.accept("fay", token).refusal?.code == "invitation_used")
            let error = await #expect(throws: RequestError.self) { try await database.invitations.read(token) }
            #expect(error?.code == "invitation_used")
            let again = try #require(try await database.invite("ada", Self.nine).task)
            #expect(again.isPaired && again.partnerTitle == "Art" && again.invitation == nil)
            #expect(try await database.register("cem", Self.nine).task?.partnerTitle == "History")
            try await database.checkPairs()
        }
    }

    @Test(
        "A task is offered to others only when its invitation has expired"
    )
    func lapse() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let host = try #require(try await database.invite("ada", Self.nine).task)
            #expect(
                try await database.day("cem", "2026-11-22", everything: true).slot("09:00")?.hasSomebodyElse == false)
            _ = try await database.invite("dan", Self.ten)
            try await database.setClock("2026-11-22 08:53:59Z")
            #expect(try await database.invitations.lapsed().isEmpty)
            try await database.setClock("2026-11-22 08:54:00Z")
            #expect(try await database.invitations.lapsed() == [host.id])
            #expect(try await !database.invitations.free(host.id))
            #expect(try await !database.invitations.free(host.id))
            #expect(
                try await database.day("cem", "2026-11-22", everything: true).slot("09:00")?.hasSomebodyElse == true)
            // A repetition doesn't extend the wait, and the link still works.
            let token = try #require(try await database.invite("ada", Self.nine).task?.invitation)
            #expect(token == host.invitation)
            #expect(try await database.invitations.lapsed().isEmpty)
            #expect(try await database.accept("eva", token).task?.isPaired == true)

            // A user waits in the slot when the invitation lapses.
            #expect(try await database.register("fay", Self.ten, "Maths").task?.isPaired == false)
            try await database.setClock("2026-11-22 09:54:00Z")
            for task in try await database.invitations.lapsed() {
                #expect(try await database.invitations.free(task))
            }
            let dan = try #require(try await database.register("dan", Self.ten).task)
            #expect(dan.partnerTitle == "Maths")
            try await database.checkPairs()
        }
    }

    @Test("A task that is freed after the lead is matched until the start")
    func lateLapse() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let host = try #require(try await database.invite("ada", Self.nine).task)
            _ = try await database.register("bob", Self.nine, "Maths")
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            #expect(try await database.invitations.free(host.id))
            #expect(try await database.register("ada", Self.nine).task?.partnerTitle == "Maths")
            try await database.checkMatches()
        }
    }

    @Test("A late task waits for its guest for at most half of the remaining time")
    func holds() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:57Z") { database in
            #expect(try await database.register("ada", Self.nine).task?.isPaired == false)
            let invited = try await database.invite("ada", Self.nine)
            #expect(invited.task?.invitation != nil && invited.change?.slotOpened == false)
            #expect(try await database.register("bob", Self.nine).task?.isPaired == false)
            try await database.setClock("2026-11-22 08:57:59Z")
            #expect(try await database.invitations.lapsed().isEmpty)
            try await database.setClock("2026-11-22 08:58Z")
            #expect(try await database.invitations.lapsed().count == 1)
        }
    }

    @Test(
        "A guest's own task becomes the partner if it has no partner"
    )
    func ownPromise() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let token = try #require(try await database.invite("ada", Self.nine).task?.invitation)
            #expect(try await database.accept("ada", token).refusal?.code == "own_invitation")
            let eva = try #require(try await database.register("eva", Self.nine, "Art").task)
            let accepted = try await database.accept("eva", token, "Maths")
            #expect(!accepted.isCreated && accepted.change != nil)
            #expect(accepted.task?.id == eva.id && accepted.task?.isPaired == true && accepted.task?.title == "Maths")
            #expect(try await database.count("schedule.task") == 2)
            try await database.checkPairs()

            let other = try #require(try await database.invite("bob", Self.ten).task?.invitation)
            _ = try await database.register("cem", Self.ten)
            _ = try await database.register("eva", Self.ten)
            #expect(try await database.accept("eva", other).refusal?.code == "slot_taken")
            #expect(try await database.accept("fay", other, zone: "Europe/Prague").task?.startTime == "11:00")
            try await database.checkPairs()
        }
    }

    @Test(
        "A guest without a valid invitation is refused"
    )
    func refusals() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let unknown = try #require(InvitationToken(String(repeating: "0", count: 32)))
            #expect(try await database.accept("eva", unknown).refusal?.status == 404)
            let host = try #require(try await database.invite("ada", Self.nine).task)
            let token = try #require(host.invitation)
            try await database.run(
                """
                INSERT INTO core.block (id, device_id, blocked_id, title, starts_at, blocked_at)
                VALUES (gen_random_uuid(), 'ada', 'bad', 'Maths', now(), now())
                """)
            #expect(try await database.accept("bad", token).refusal?.code == "no_such_invitation")
            // A moved task waits for its guest in the new slot and isn't matched with a waiting user.
            _ = try await database.register("bob", Self.ten)
            #expect(try await database.move("ada", host.id, to: Self.ten).task?.isPaired == false)
            #expect(try await database.invitations.read(token).startsAt.description == Self.ten)
            _ = try await database.invite("ada", Self.ten, "Art")
            #expect(try await database.invitations.read(token).title == "Art")
            #expect(try await database.cancel("ada", Self.ten).code == "cancelled")
            #expect(try await database.accept("eva", token).refusal?.code == "no_such_invitation")

            let gone = try #require(try await database.invite("cem", Self.nine).task?.invitation)
            _ = try await database.erasures.erase(DeviceID(stored: "cem"))
            #expect(try await database.accept("eva", gone).refusal?.code == "no_such_invitation")

            let late = try #require(try await database.invite("dan", Self.nine).task?.invitation)
            try await database.setClock("2026-11-22 08:59:01Z")
            #expect(try await database.accept("eva", late).refusal?.code == "registration_closed")
            _ = try await database.reminders.claimDue(limit: 10)
            #expect(try await database.accept("eva", late).refusal?.code == "registration_closed")
            let error = await #expect(throws: RequestError.self) { try await database.invitations.read(late) }
            #expect(error?.code == "registration_closed")
            for task in try await database.invitations.lapsed() { #expect(try await !database.invitations.free(task)) }
            #expect(try await database.invitations.lapsed().isEmpty)
        }
    }

    @Test("A task whose guest left waits for anyone until it invites again")
    func guestLeaves() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let token = try #require(try await database.invite("ada", Self.nine).task?.invitation)
            let eva = try #require(try await database.accept("eva", token).task)
            _ = try await database.leave("eva", eva.id)
            #expect(try await database.accept("fay", token).refusal?.code == "invitation_used")
            #expect(try await database.invite("ada", Self.nine).task?.invitation == token)
            #expect(try await database.register("bob", Self.nine).task?.isPaired == false)
            #expect(try await database.accept("fay", token).task?.isPaired == true)
            try await database.checkPairs()
        }
    }

    @Test("One of several concurrent guests becomes the partner")
    func atOnce() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 16) { database in
            for round in 0..<10 {
                let start = "2026-11-22T09:0\(round):00Z"
                let token = try #require(try await database.invite("ada", start).task?.invitation)
                let outcomes = try await withThrowingTaskGroup(of: RegistrationOutcome?.self) { group in
                    for number in 0..<12 {
                        group.addTask {
                            if number % 3 == 0 {
                                _ = try await database.register("other-\(number)", start)
                                return nil
                            }
                            return try await database.accept("guest-\(number)", token)
                        }
                    }
                    return try await group.reduce(into: [RegistrationOutcome]()) {
                        if let outcome = $1 { $0.append(outcome) }
                    }
                }
                #expect(outcomes.count { $0.isCreated } == 1)
                #expect(outcomes.count { $0.refusal?.code == "invitation_used" } == 7)
            }
            try await database.checkPairs()
        }
    }

    @Test("A guest who accepts during a conflicting change sees its result", arguments: 0..<3)
    func beside(_ way: Int) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 6) { database in
            let host = try #require(try await database.invite("ada", Self.nine).task)
            let token = try #require(host.invitation)
            let holder = try await PostgresSession.connect(database.configuration)
            try await holder.execute("BEGIN; SELECT FROM schedule.due WHERE task_id = '\(host.id)' FOR UPDATE")
            // A separate session, because a statement waiting in a pool could block others.
            let guest = try await PostgresSession.connect(database.configuration)
            let accepting = Task {
                try await guest.execute(
                    "SELECT schedule.accept_invitation('eva', '\(token.text)', 'Art', NULL, 60, 7776000, 3600, 200)")
            }
            try await database.waits(1)
            let meanwhile = [
                "SELECT schedule.cancel_task('ada', '\(host.id)', NULL, NULL, NULL, NULL, NULL)",
                "SELECT core.erase_device('ada')",
                """
                UPDATE letsswitch.test_clock SET at = '2026-11-22 08:59:30Z';
                DELETE FROM schedule.due WHERE task_id = '\(host.id)'
                """,
            ]
            try await holder.execute("\(meanwhile[way]); COMMIT")
            await holder.close()
            _ = try await accepting.value
            await guest.close()
            let code = try await database.accept("eva", token).refusal?.code
            #expect(code == ["no_such_invitation", "no_such_invitation", "registration_closed"][way])
            #expect(try await database.run("SELECT FROM schedule.task WHERE device_id = 'eva'").isEmpty)
        }
    }

    @Test("A token is parsed strictly")
    func tokens() throws {
        let text = "0123456789abcdef0123456789abcdef"
        #expect(InvitationToken(text)?.path == "/#invitation/\(text)")
        #expect(InvitationToken(text.uppercased()) == nil && InvitationToken(text + "0") == nil)
        #expect(InvitationToken("") == nil && InvitationToken(String(repeating: "é", count: 16)) == nil)
        #expect("\(try #require(InvitationToken(text)))" == "…")
    }
}

extension ScheduleDatabase {
    var invitations: InvitationStore { InvitationStore(database: client) }

    func invite(_ device: String, _ startsAt: String, _ title: String = "History") async throws -> RegistrationOutcome {
        let slot = try Self.request(device, startsAt, title, zone: "UTC").slot
        return try await schedule.register(TaskRequest(slot: slot, title: title, invites: true))
    }

    func accept(
        _ device: String, _ token: InvitationToken, _ title: String = "History", zone: String? = nil
    ) async throws -> RegistrationOutcome {
        try await schedule.accept(
            InvitationRequest(device: DeviceID(stored: device), token: token, title: title, timeZone: zone))
    }
}
