import Testing

@testable import Notifications

/// The decision after an attempt to deliver.
@Suite struct RetryDecisionTests {
    private func settle(
        _ outcome: AttemptOutcome, attempt: Int = 1, left: Double = 60, age: Duration = .zero, random: Double = 0,
        event: String = Delivery.reminder
    ) -> RetryDecision {
        RetryDecision(
            of: .sample(event: event, attempt: attempt, timeLeft: left), outcome, age: age, random: random)
    }

    @Test("An accepted, refused or lost delivery is finished")
    func final() {
        #expect(settle(.accepted) == .accepted)
        #expect(settle(.gone("")) == .gone)
        #expect(settle(.refused("")) == .dropped(.refused))
    }

    @Test("The wait before a reminder is repeated doubles each time")
    func backOff() {
        for (attempt, seconds) in [(1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8)] {
            #expect(settle(.retry(after: nil, ""), attempt: attempt) == .again(after: .seconds(seconds), counts: true))
            let least = settle(.retry(after: nil, ""), attempt: attempt, random: 0.999_999)
            guard case .again(let wait, true) = least else {
                Issue.record("\(least)")
                continue
            }
            #expect(wait > .seconds(seconds) * 0.499 && wait < .seconds(seconds) * 0.501)
        }
    }

    @Test("Near the deadline, a delivery is tried once more")
    func deadline() {
        #expect(settle(.retry(after: nil, ""), attempt: 6, left: 10) == .again(after: .seconds(5), counts: true))
        #expect(
            settle(.retry(after: nil, ""), attempt: 6, left: 10, age: .seconds(9))
                == .again(after: .milliseconds(500), counts: true))
        #expect(settle(.retry(after: nil, ""), attempt: 6, left: 10, age: .seconds(10)) == .dropped(.expired))
        #expect(settle(.retry(after: nil, ""), attempt: 6, left: 10, age: .seconds(100)) == .dropped(.expired))
    }

    @Test("A server's Retry-After is obeyed if the deadline allows it")
    func retryAfter() {
        #expect(settle(.retry(after: .seconds(7), "")) == .again(after: .seconds(7), counts: true))
        #expect(settle(.retry(after: .zero, "")) == .again(after: .seconds(1), counts: true))
        #expect(settle(.retry(after: .seconds(60), "")) == .dropped(.expired))
    }

    @Test("A wait is at least the back-off, plus a random fifth")
    func retryAfterWithBackOff() {
        #expect(settle(.retry(after: .seconds(1), ""), attempt: 5) == .again(after: .seconds(8), counts: true))
        #expect(
            settle(.retry(after: .seconds(5), ""), attempt: 2, left: 86_400, event: "room.opened")
                == .again(after: .seconds(295), counts: true))
        #expect(settle(.retry(after: .seconds(10), ""), random: 0.5) == .again(after: .seconds(11), counts: true))
        // The random part doesn't extend the wait beyond the deadline.
        #expect(settle(.retry(after: .seconds(56), ""), random: 0.5) == .again(after: .seconds(57), counts: true))
    }

    @Test("An error of the provider doesn't count as an attempt")
    func paused() {
        #expect(settle(.paused(for: .seconds(20), "")) == .again(after: .seconds(20), counts: false))
        #expect(settle(.paused(for: .seconds(90), "")) == .dropped(.expired))
        #expect(settle(.paused(for: .seconds(20), "")).outcome == .paused)
    }

    @Test("The webhook's events are repeated at the times of Standard Webhooks")
    func events() {
        var at = Duration.zero
        var times: [Int] = []
        for attempt in 1...12 {
            let left = 87_000 - at / .seconds(1)
            let settled = settle(.retry(after: nil, ""), attempt: attempt, left: left, event: "task.registered")
            guard case .again(let wait, true) = settled else { break }
            at += wait
            times.append(Int(at / .seconds(1)))
        }
        #expect(times == [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
    }
}
