import Basics
import Testing

@testable import Notifications

/// A delivery worker's state.
@Suite struct DeliveryWorkerStateTests {
    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(seconds * 1e9)) }

    private func serving() -> DeliveryWorkerState {
        var state = DeliveryWorkerState()
        state.started(7)
        return state
    }

    @Test("The worker leases after the database has numbered its start")
    func starts() {
        var state = DeliveryWorkerState()
        let first = state.next(at: at(0))
        #expect(first == .start)
        #expect(state.disposition(at: at(0)) == .release(after: .zero))
        state.started(7)
        let second = state.next(at: at(0))
        #expect(second == .lease)
        #expect(state.disposition(at: at(0)) == .send)
    }

    @Test("The worker pauses for the longest requested time")
    func rests() {
        var state = serving()
        let first = state.rest(for: .seconds(10), at: at(0))
        #expect(first?.isNew == true && first?.pause == .seconds(10))
        let shorter = state.rest(for: .seconds(5), at: at(1))
        #expect(shorter == nil)
        let longer = state.rest(for: .seconds(20), at: at(1))
        #expect(longer?.isNew == false)
        #expect(state.disposition(at: at(6)) == .release(after: .seconds(15)))
        let steps = [1, 20, 21, 21].map { state.next(at: at($0)) }
        #expect(steps == [.sleep(DeliveryWorkerState.heartbeat), .sleep(.seconds(1)), .leaseAgain, .lease])
    }

    @Test("A pause has a minimum and a maximum")
    func bounds() {
        var state = serving()
        let least = state.rest(for: .zero, at: at(0))
        #expect(least?.pause == RetryDecision.shortestWait)
        let most = state.rest(for: .seconds(1e6), at: at(0))
        #expect(most?.pause == DeliveryWorkerState.longestRest)
    }

    @Test(
        "A refused worker stores the refusal, even during a pause",
        arguments: [true, false])
    func turnedAway(isForAll: Bool) {
        var state = serving()
        _ = state.rest(for: .seconds(10), at: at(0))
        let news = [state.markRefused(), state.markRefused()]
        #expect(news == [true, false])
        let steps = [0, 1].map { state.next(at: at($0)) }
        #expect(steps == [.storeRefusal(start: 7), .storeRefusal(start: 7)])
        #expect(state.disposition(at: at(1)) == .release(after: .zero))
        state.leave(isForAll: isForAll)
        let last = state.next(at: at(2))
        #expect(last == (isForAll ? .clear : .sleep(DeliveryWorkerState.heartbeat)))
        let rest = state.rest(for: .seconds(1), at: at(2))
        #expect(rest == nil)
    }

    @Test("A stopped worker does nothing more")
    func stops() {
        var state = serving()
        state.stop()
        state.started(8)
        let isNews = state.markRefused()
        let rest = state.rest(for: .seconds(1), at: at(0))
        #expect(state.isStopping && !isNews && rest == nil)
        state.leave(isForAll: true)
        let step = state.next(at: at(0))
        #expect(step == .end)
        #expect(state.disposition(at: at(0)) == .release(after: .zero))
    }

    @Test("An outage of the database and its end are each reported once")
    func database() {
        var state = DeliveryWorkerState()
        let news = [true, false, false, true].map { state.noteDatabase(isThere: $0, for: .reminders) }
        #expect(news == [false, true, false, true])
    }

    @Test("Answers to one kind's leases aren't reported while the other kind's fail")
    func databaseForOne() {
        var state = DeliveryWorkerState()
        let first = state.noteDatabase(isThere: false, for: .others)
        let meanwhile = [true, false, true].map { state.noteDatabase(isThere: $0, for: .reminders) }
        let last = state.noteDatabase(isThere: true, for: .others)
        #expect(first && meanwhile == [false, false, false] && last)
    }

    @Test("Deliveries that aren't urgent are leased only while the provider is served")
    func others() {
        var state = DeliveryWorkerState()
        #expect(!state.isServing)
        state.started(7)
        #expect(state.isServing)
        _ = state.rest(for: .seconds(10), at: at(0))
        #expect(!state.isServing)
        _ = state.next(at: at(10))
        #expect(state.isServing)
        state.stop()
        #expect(!state.isServing)
    }
}
