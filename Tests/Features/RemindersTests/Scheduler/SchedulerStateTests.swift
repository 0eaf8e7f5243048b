import Basics
import FoundationEssentials
import Rooms
import ScheduleTestSupport
import Sockets
import Testing

@testable import Reminders

/// The scheduler's decisions, without a database.
@Suite struct SchedulerStateTests {
    private let start = MonotonicTime.now()

    /// Returns a state that knows all batches. The database's clock was at 1,000 seconds, and nothing is due.
    private func settled(due: Double? = nil, expiry: Double? = nil) -> SchedulerState {
        var state = SchedulerState(at: start)
        _ = state.actions(at: start)
        state.handle(.looked(NextDue(due: due, expiry: expiry, now: 1000)), at: start)
        state.handle(.caughtUp(newest: 5, []), at: start)
        state.handle(.purged(0), at: start)
        return state
    }

    private func time(_ seconds: Double) -> MonotonicTime { start + .seconds(seconds) }

    @Test("The scheduler begins with all jobs except a claim, in parallel")
    func beginning() {
        var state = SchedulerState(at: start)
        #expect(state.actions(at: start) == [.look, .catchUp(settled: 0), .purge])
        #expect(state.actions(at: start).isEmpty)
        #expect(state.nextLook == .infinity)
    }

    @Test("The scheduler sleeps until a task is due, and claims until none is left")
    func claims() {
        var state = settled(due: 1003)
        #expect(state.actions(at: start).isEmpty)
        #expect(state.pause(at: start) == .seconds(3) && state.nextLook == 1003)
        #expect(state.actions(at: time(3)) == [.claim])
        state.handle(.claimed(.sample(6)), at: time(3))
        // The next claim is sent before the last claim's reminders are fired.
        #expect(
            state.actions(at: time(3)).map(\.name) == ["claim", "fire", "record"])
        state.handle(.claimed(nil), at: time(3))
        #expect(state.actions(at: time(3)) == [.look])
        state.handle(.looked(NextDue(due: nil, expiry: nil, now: 1003)), at: time(3))
        #expect(state.actions(at: time(3)).isEmpty)
        #expect(state.pause(at: time(3)) == Agenda.heartbeat)
    }

    @Test(
        "An unnoticed step back of the database's clock causes one claim in vain"
    )
    func clockWentBack() {
        var state = settled(due: 1003)
        #expect(state.actions(at: time(3)) == [.claim])
        state.handle(.claimed(nil), at: time(3))
        #expect(state.actions(at: time(3)) == [.look])
        state.handle(.looked(NextDue(due: 1003, expiry: nil, now: 993)), at: time(3))
        #expect(state.actions(at: time(3)).isEmpty)
        #expect(state.pause(at: time(3)) == .seconds(10))
        #expect(state.actions(at: time(12.9)).isEmpty)
        #expect(state.actions(at: time(13)) == [.claim])
    }

    @Test("Locked due tasks are claimed repeatedly with growing pauses")
    func locked() {
        var state = settled(due: 1000)
        var now = start
        var pauses: [Duration] = []
        for _ in 0..<8 {
            #expect(state.actions(at: now).contains(.claim))
            state.handle(.claimed(nil), at: now)
            _ = state.actions(at: now)
            state.handle(.looked(NextDue(due: 1000, expiry: nil, now: 1000 + ((now - start) / .seconds(1)))), at: now)
            _ = state.actions(at: now)
            pauses.append(state.pause(at: now))
            now = now + state.pause(at: now)
        }
        #expect(pauses.prefix(4) == [.milliseconds(5), .milliseconds(10), .milliseconds(20), .milliseconds(40)])
        #expect(pauses.max() == .milliseconds(160))
    }

    @Test(
        "No hanging or failing job prevents claims", arguments: SchedulerJob.allCases.filter { $0 != .claim })
    func independence(job: SchedulerJob) {
        for fails in [false, true] {
            var state = settled(due: 1003, expiry: 1001)
            state.handle(.disturbed, at: start)
            state.handle(.announced(batch: 7), at: start)
            state.handle(.failed(.claim, isOutcomeUnknown: true), at: start)
            // All jobs are in progress. `job` never ends, or fails.
            let started = state.actions(at: time(1.5))
            #expect(!started.contains(.claim))
            if fails { state.handle(.failed(job, isOutcomeUnknown: true), at: time(2)) }
            var claims = 0
            var now = time(3)
            for batch in 8..<28 {
                let actions = state.actions(at: now)
                if actions.contains(.claim) {
                    claims += 1
                    state.handle(.claimed(.sample(batch)), at: now)
                }
                if fails, actions.contains(where: { $0.name == job.rawValue }) {
                    state.handle(.failed(job, isOutcomeUnknown: true), at: now)
                }
                now = now + .milliseconds(1)
            }
            #expect(claims == 20)
            // The batches are fired even if earlier ones are missing.
            let fired = state.actions(at: now + BatchOrder.patience).filter { $0.name == "fire" }
            #expect(!fired.isEmpty)
        }
    }

    @Test("A failed job is repeated after pauses that grow to its own limit", arguments: SchedulerJob.allCases)
    func backOff(job: SchedulerJob) {
        var state = SchedulerJobState.ready
        var now = start
        var pauses: [Duration] = []
        for _ in 0..<12 {
            #expect(state.isFree(at: now))
            state.start()
            #expect(state.isRunning && !state.isFree(at: .distantFuture) && state.freeAt(now) == nil)
            state.fail(job, at: now)
            #expect(!state.isFree(at: now))
            let free = state.freeAt(now) ?? now
            pauses.append(free - now)
            now = free
        }
        #expect(pauses.first == job.pauses.lowerBound && pauses.last == job.pauses.upperBound)
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        state.endPause(at: start)
        #expect(state.isFree(at: start) && state.failures == 12)
    }

    @Test("While due times can't be read, the scheduler claims at intervals")
    func blind() {
        var state = SchedulerState(at: start)
        _ = state.actions(at: start)
        state.handle(.failed(.look, isOutcomeUnknown: false), at: start)
        #expect(!state.actions(at: time(0.5)).contains(.claim))
        #expect(state.actions(at: time(1.1)).contains(.claim))
        state.handle(.claimed(nil), at: time(1.1))
        #expect(!state.actions(at: time(1.2)).contains(.claim))
    }

    @Test("A claim with a lost answer is found and reported")
    func lost() {
        var state = settled(due: 1000)
        #expect(state.actions(at: start) == [.claim])
        state.handle(.failed(.claim, isOutcomeUnknown: true), at: start)
        #expect(state.actions(at: start) == [.recover(after: 0, except: [])])
        state.handle(.recovered([.sample(6)]), at: start)
        #expect(state.actions(at: start).map(\.name) == ["record", "fire"])
        // The missing batches are read again, because they may still be uncommitted. Known batches aren't.
        state.handle(.claimed(.sample(7)), at: time(1))
        let later = state.actions(at: time(5) + .milliseconds(1))
        #expect(later.contains(.recover(after: 0, except: [6, 7])))
        // A claim that certainly had no effect isn't a lost claim.
        var other = settled(due: 1000)
        _ = other.actions(at: start)
        other.handle(.failed(.claim, isOutcomeUnknown: false), at: start)
        #expect(other.actions(at: start).isEmpty)
    }

    @Test("A daemon that is far behind catches up")
    func farBehind() {
        var state = settled()
        state.handle(.announced(batch: 8), at: start)
        #expect(state.actions(at: start) == [.follow(after: 5, upTo: 8)])
        state.handle(.followed([.sample(7)], upTo: 8), at: start)
        state.handle(.announced(batch: .max), at: start)
        #expect(state.actions(at: start).map(\.name) == ["fire", "catch-up"])
        state.handle(.caughtUp(newest: 9, []), at: start)
        #expect(state.actions(at: start).isEmpty)
        #expect(state.pause(at: start) > .seconds(1))
    }

    @Test("Catching up closes rooms whose closing was missed")
    func lostEnds() {
        var state = settled()
        let rooms = (0..<3).map { OpenRoom(id: UUID(), closesAt: 2000 + Double($0)) }
        for room in rooms.dropLast() { state.handle(.found(room), at: start) }
        state.handle(.disturbed, at: start)
        #expect(state.actions(at: start).map(\.name).contains("catch-up"))
        state.handle(.found(rooms[2]), at: start)
        state.handle(.caughtUp(newest: 5, [rooms[0]]), at: start)
        #expect(state.actions(at: start) == [.close([rooms[1].id])])
    }

    @Test("The notification of an own claim causes no read unless the answer is slow")
    func ownWord() {
        var state = settled(due: 1000)
        #expect(state.actions(at: start) == [.claim])
        state.handle(.announced(batch: 6), at: start)
        #expect(state.actions(at: start).isEmpty)
        #expect(state.pause(at: start) == SchedulerState.answerPatience)
        let late = start + SchedulerState.answerPatience
        #expect(state.actions(at: late) == [.follow(after: 5, upTo: 6)])
        state.handle(.claimed(.sample(6)), at: late)
        #expect(state.actions(at: late).map(\.name) == ["claim", "fire", "record"])
        // The same reminder arrives twice and is sent once.
        state.handle(.followed([.sample(6)], upTo: 6), at: late)
        #expect(state.actions(at: late).isEmpty)
    }

    @Test("Rooms close by a new reading of the clock, or by the estimate if it can't be read")
    func closing() {
        let room = UUID()
        var state = settled()
        state.handle(.found(OpenRoom(id: room, closesAt: 1004)), at: start)
        #expect(state.actions(at: start).isEmpty)
        #expect(state.actions(at: time(4)) == [.look])
        // The database's clock was set back.
        state.handle(.looked(NextDue(due: nil, expiry: nil, now: 1003)), at: time(4))
        #expect(state.actions(at: time(4)).isEmpty)
        #expect(state.actions(at: time(5)) == [.look])
        state.handle(.failed(.look, isOutcomeUnknown: false), at: time(5))
        #expect(state.actions(at: time(5)).contains(.close([room])))
    }

    @Test("Overdue reminders are given up independently of claims")
    func expiry() {
        var state = settled(expiry: 1002)
        #expect(state.pause(at: start) == .seconds(2))
        #expect(state.actions(at: time(2)) == [.expire])
        state.handle(.expired, at: time(2))
        #expect(state.actions(at: time(2)) == [.look])
    }

    @Test("The scheduler is late only if claims are delayed")
    func lateness() {
        var state = settled(due: 1014)
        #expect(state.lateness(at: time(13)) == nil)
        _ = state.actions(at: time(14))
        #expect(state.lateness(at: time(15)) == nil)
        state.handle(.failed(.claim, isOutcomeUnknown: true), at: time(15))
        #expect(state.lateness(at: time(23)) == nil)
        #expect(state.lateness(at: time(24.5)) != nil)
        state.handle(.claimed(.sample(6)), at: time(25))
        #expect(state.lateness(at: time(25)) == nil)
        // A scheduler that sends no queries is late too.
        #expect(settled().lateness(at: time(24)) == nil)
        #expect(settled().lateness(at: time(26)) != nil)
    }

    @Test("The scheduler is blocked only while claims are late and fail")
    func blocked() {
        var state = settled(due: 1014)
        _ = state.actions(at: time(14))
        state.handle(.failed(.claim, isOutcomeUnknown: true), at: time(15))
        #expect(!state.isBlocked(at: time(23)))
        #expect(state.isBlocked(at: time(24.5)))
        // The next try doesn't change that before it succeeds.
        #expect(state.actions(at: time(24.5)).contains(.claim))
        #expect(state.isBlocked(at: time(24.5)))
        state.handle(.claimed(.sample(6)), at: time(25))
        #expect(!state.isBlocked(at: time(25)))

        // Without a failure, the machine was asleep, or a task became known late.
        #expect(!settled(due: 1014).isBlocked(at: time(100)))
        var looking = settled()
        #expect(looking.actions(at: time(15)) == [.look])
        looking.handle(.failed(.look, isOutcomeUnknown: true), at: time(16))
        #expect(!looking.isBlocked(at: time(24)))
        #expect(looking.isBlocked(at: time(26)))
    }
}

extension SchedulerAction {
    /// The action's name without its details. The name of a database job is the job's.
    fileprivate var name: String {
        switch self {
        case .claim: "claim"
        case .look: "look"
        case .recover: "recover"
        case .follow: "follow"
        case .catchUp: "catch-up"
        case .expire: "expire"
        case .purge: "purge"
        case .fire: "fire"
        case .record: "record"
        case .close: "close"
        }
    }
}
