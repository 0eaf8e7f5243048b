import Basics
import Testing

@Suite struct BackoffTests {
    @Test("Waits double up to a limit, minus a random half")
    func doubling() {
        var backoff = Backoff(minimum: .milliseconds(50), maximum: .seconds(2))
        let waits = (0..<40).map { _ in backoff.next(random: 0) }
        #expect(waits.prefix(3) == [.milliseconds(50), .milliseconds(100), .milliseconds(200)])
        #expect(waits.max() == .seconds(2) && waits.last == .seconds(2))
        #expect(backoff.next(random: 0.999) >= .seconds(1))
    }

    @Test("The wait reaches the maximum and stays there, with any limits")
    func wide() {
        let wide = Backoff(minimum: .milliseconds(1), maximum: .seconds(86_400), jitter: 0)
        #expect(wide.delay(afterAttempt: 17, random: 0) == .milliseconds(65_536))
        #expect(wide.delay(afterAttempt: 28, random: 0) == .seconds(86_400))
        #expect(wide.delay(afterAttempt: .max, random: 0) == .seconds(86_400))
        let long = Backoff(minimum: .seconds(Int64.max), maximum: .seconds(Int64.max), jitter: 0)
        #expect(long.delay(afterAttempt: 40, random: 0) > .seconds(Int64.max / 2))
        let none = Backoff(minimum: .zero, maximum: .seconds(1), jitter: 0)
        #expect(none.delay(afterAttempt: 80, random: 0) == .zero)
    }

    @Test("A success resets the waits")
    func reset() {
        var backoff = Backoff(minimum: .seconds(1), maximum: .seconds(60))
        for _ in 0..<5 { _ = backoff.next(random: 0) }
        backoff.reset()
        #expect(backoff.failures == 0)
        #expect(backoff.next(random: 0) == .seconds(1))
    }

    @Test(
        "Steps are used in order, and the last one repeats",
        arguments: [(-1, 1), (0, 1), (1, 1), (2, 5), (3, 30), (4, 30), (Int.max, 30)])
    func steps(attempt: Int, seconds: Int) {
        let backoff = Backoff(steps: [.seconds(1), .seconds(5), .seconds(30)], jitter: 0.1)
        #expect(backoff.delay(afterAttempt: attempt, random: 0) == .seconds(seconds))
        #expect(backoff.delay(afterAttempt: attempt, random: 0.5) == .seconds(seconds) * 0.95)
    }

    @Test("Without steps there is no wait")
    func noSteps() {
        #expect(Backoff(steps: [], jitter: 0.5).delay(afterAttempt: 1, random: 0) == .zero)
    }
}
