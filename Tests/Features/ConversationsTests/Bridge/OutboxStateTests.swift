import Basics
import Testing

@testable import Conversations

/// The outbox's next action, with a clock that the test sets.
@Suite struct OutboxStateTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// Returns an outbox that is connected to its broker and has found nothing to send.
    private func resting() -> OutboxState {
        var state = OutboxState(at: start, settlingTime: .zero)
        state.connected(at: start)
        #expect(state.next(at: start) == .round)
        state.ended(.done(mayBeMore: false), at: start, random: 0)
        return state
    }

    @Test("The outbox checks for messages after a connection, a report, or the interval")
    func looks() {
        var state = OutboxState(at: start)
        state.lookAgain()
        #expect(state.next(at: start) == .sleep(OutboxState.unavailableHeartbeat), "the broker is unavailable")
        state = resting()
        #expect(state.next(at: start + .seconds(1)) == .sleep(OutboxState.heartbeat - .seconds(1)))
        state.lookAgain()
        #expect(state.next(at: start + .seconds(1)) == .round)
        // A message stored during a round is for the next one.
        state.lookAgain()
        state.ended(.done(mayBeMore: false), at: start + .seconds(1), random: 0)
        #expect(state.next(at: start + .seconds(1)) == .round)
        state.ended(.done(mayBeMore: true), at: start + .seconds(1), random: 0)
        #expect(state.next(at: start + .seconds(1)) == .round)
        state.ended(.done(mayBeMore: false), at: start + .seconds(1), random: 0)
        #expect(state.next(at: start + .seconds(1) + OutboxState.heartbeat) == .round)
    }

    @Test("While the broker is unavailable, the daemon reports regularly that it waits for it")
    func away() {
        var state = resting()
        state.lost()
        state.lookAgain()
        let pause = OutboxState.unavailableHeartbeat
        #expect(state.next(at: start) == .sleep(pause))
        #expect(state.next(at: start + pause) == .see)
        #expect(state.next(at: start + pause) == .sleep(pause))
    }

    @Test("The outbox publishes nothing for ten seconds after each connection")
    func settling() {
        var state = OutboxState(at: start)
        #expect(!state.maySend(at: start))
        var now = start
        for _ in 0..<2 {
            state.connected(at: now)
            state.lookAgain()
            #expect(state.next(at: now) == .sleep(.seconds(10)))
            #expect(!state.maySend(at: now + .seconds(9)))
            // A round that began on the previous connection ends now. Its short pause doesn't replace the long one.
            state.ended(.brokerFailed, at: now, random: 0)
            #expect(state.next(at: now + .seconds(9)) == .sleep(.seconds(1)))
            now = now + .seconds(10)
            #expect(state.maySend(at: now) && state.next(at: now) == .round)
            state.lost()
            #expect(!state.maySend(at: now))
        }
    }

    @Test("After a failure the outbox waits longer each time, and reports don't shorten the wait")
    func failures() {
        var state = resting()
        var waits: [Duration] = []
        var now = start
        for _ in 0..<8 {
            state.lookAgain()
            guard case .round = state.next(at: now) else { break }
            state.ended(.brokerFailed, at: now, random: 0)
            state.lookAgain()
            guard case .sleep(let wait) = state.next(at: now) else { break }
            waits.append(wait)
            now = now + wait
        }
        #expect(waits.count == 8 && waits.last == .seconds(5))
        #expect(zip(waits, waits.dropFirst()).allSatisfy(<=))
        #expect(state.next(at: now) == .round)
        state.ended(.databaseFailed, at: now, random: 0)
        #expect(state.next(at: now) == .sleep(.seconds(1)))
        #expect(state.next(at: now + .seconds(1)) == .round)
    }

    @Test("While another daemon publishes, the outbox looks again when that lease ends")
    func held() {
        var state = resting()
        state.lookAgain()
        #expect(state.next(at: start) == .round)
        state.ended(.held(for: .seconds(8)), at: start, random: 0)
        state.lookAgain()
        #expect(state.next(at: start + .seconds(3)) == .sleep(.seconds(5)))
        #expect(state.next(at: start + .seconds(8)) == .round)
    }

    @Test("A stopped outbox ends in every state")
    func stopped() {
        for change in [{ _ in }, { $0.lookAgain() }, { $0.lost() }] as [(inout OutboxState) -> Void] {
            var state = resting()
            change(&state)
            state.stop()
            #expect(state.next(at: start) == .end)
        }
    }
}
