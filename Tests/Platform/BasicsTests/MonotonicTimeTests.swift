import Basics
import Testing

@Suite struct MonotonicTimeTests {
    @Test(
        "Any duration can be added, from zero to for ever",
        arguments: [
            (UInt64(5), Duration.nanoseconds(7), UInt64(12)), (5, .zero, 5), (5, .nanoseconds(-7), 5),
            (5, .seconds(-3), 5), (0, .milliseconds(1), 1_000_000), (1, .seconds(2), 2_000_000_001),
            (.max - 1, .nanoseconds(1), .max), (.max - 1, .nanoseconds(2), .max), (1, .seconds(Int64.max), .max),
        ])
    func sum(start: UInt64, duration: Duration, expected: UInt64) {
        #expect((MonotonicTime(nanoseconds: start) + duration).nanoseconds == expected)
    }

    @Test(
        "A difference has the sign of the order",
        arguments: [
            (UInt64(12), UInt64(5), Duration.nanoseconds(7)), (5, 12, .nanoseconds(-7)), (5, 5, .zero),
            (.max, 0, .nanoseconds(Int64.max)),
        ])
    func difference(later: UInt64, earlier: UInt64, expected: Duration) {
        #expect(MonotonicTime(nanoseconds: later) - MonotonicTime(nanoseconds: earlier) == expected)
    }

    @Test("The clock doesn't go backwards")
    func now() {
        let first = MonotonicTime.now()
        #expect(first <= .now())
        #expect(first < .distantFuture)
    }
}
