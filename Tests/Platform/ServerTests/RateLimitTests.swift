import Basics
import Server
import Testing

@Suite struct RateLimitTests {
    /// Returns how many of `count` simultaneous events are admitted.
    private func admitted(_ count: Int, by limit: RateLimit, at milliseconds: UInt64, _ paidUntil: inout UInt64) -> Int
    {
        var admitted = 0
        for _ in 0..<count {
            guard let paid = limit.paying(paidUntil, at: MonotonicTime(nanoseconds: milliseconds * 1_000_000)) else {
                continue
            }
            paidUntil = paid
            admitted += 1
        }
        return admitted
    }

    @Test("A burst is admitted at once, and then the rate applies")
    func burst() {
        let limit = RateLimit(perSecond: 50, burst: 100)
        var paid: UInt64 = 0
        #expect(admitted(1000, by: limit, at: 5000, &paid) == 100)
        #expect(admitted(1000, by: limit, at: 5019, &paid) == 0)
        #expect(admitted(1000, by: limit, at: 5020, &paid) == 1)
        #expect(admitted(1000, by: limit, at: 6020, &paid) == 50)
        // A long pause restores the burst, and no more.
        #expect(admitted(1000, by: limit, at: 8020, &paid) == 100)
        #expect(admitted(1000, by: limit, at: 1_000_000, &paid) == 100)
    }

    @Test("A refused event isn't charged")
    func refusals() {
        let limit = RateLimit(perSecond: 10, burst: 1)
        var paid: UInt64 = 0
        #expect(admitted(1, by: limit, at: 1000, &paid) == 1)
        #expect(admitted(10_000, by: limit, at: 1099, &paid) == 0)
        #expect(admitted(1, by: limit, at: 1100, &paid) == 1)
    }

    @Test(
        "Events at the rate are admitted, and above it the rate holds in the long run", arguments: [1, 7, 50, 999])
    func longRun(rate: Int) {
        let limit = RateLimit(perSecond: rate, burst: 2 * rate)
        var (paid, twice): (UInt64, UInt64) = (0, 0)
        var (steady, doubled) = (0, 0)
        let step = UInt64(1_000_000_000 / rate) + 1
        for event in 0..<UInt64(10 * rate) {
            let now = MonotonicTime(nanoseconds: 1_000_000_000 + event * step)
            if let next = limit.paying(paid, at: now) {
                paid = next
                steady += 1
            }
            for _ in 0..<2 {
                guard let next = limit.paying(twice, at: now) else { continue }
                twice = next
                doubled += 1
            }
        }
        #expect(steady == 10 * rate)
        // Ten seconds at the rate and the burst are admitted, except for rounding at both ends of the interval.
        #expect(abs(doubled - 12 * rate) <= 2)
    }

    @Test("A daily limit admits its number at once or evenly spread")
    func daily() {
        let limit = RateLimit(perDay: 8640)
        var paid: UInt64 = 0
        #expect(admitted(20_000, by: limit, at: 5000, &paid) == 8640)
        #expect(admitted(10, by: limit, at: 14_990, &paid) == 0)
        #expect(admitted(10, by: limit, at: 15_000, &paid) == 1)
        #expect(admitted(20_000, by: limit, at: 15_000 + 86_400_000, &paid) == 8640)
        #expect(admitted(20_000, by: limit.times(2), at: 15_000 + 2 * 86_400_000, &paid) == 2 * 8640)
        #expect(admitted(20_000, by: RateLimit(perDay: 0), at: 5000, &paid) == 20_000)
    }

    @Test("A rate of 0 sets no limit, and no rate overflows")
    func extremes() {
        var paid: UInt64 = 0
        #expect(admitted(10_000, by: RateLimit(perSecond: 0, burst: 0), at: 1, &paid) == 10_000)
        paid = 0
        #expect(admitted(10, by: RateLimit(perSecond: .max, burst: .max), at: 1, &paid) == 10)
        paid = 0
        #expect(admitted(10, by: RateLimit(perSecond: 1, burst: .max), at: 1, &paid) == 10)
        paid = 0
        #expect(admitted(10, by: RateLimit(perSecond: 1, burst: 0), at: 1, &paid) == 1)
    }
}
