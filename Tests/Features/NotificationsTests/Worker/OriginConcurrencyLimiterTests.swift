import Testing

@testable import Notifications

/// The number of requests that may be in flight to each push service.
@Suite struct OriginConcurrencyLimiterTests {
    /// Begins requests to `origin` until no more are admitted, at most 1,000. Returns their number.
    private func fill(_ windows: inout OriginConcurrencyLimiter, _ origin: String) -> Int {
        var count = 0
        while count < 1000, windows.admits(origin) {
            windows.begin(origin)
            count += 1
        }
        return count
    }

    private func end(_ windows: inout OriginConcurrencyLimiter, _ origin: String, _ count: Int, after time: Duration) {
        for _ in 0..<count { windows.end(origin, after: time) }
    }

    @Test("The window of a server that answers doubles with each round trip")
    func grows() {
        var windows = OriginConcurrencyLimiter(places: 100)
        var counts: [Int] = []
        for _ in 0..<6 {
            let count = fill(&windows, "a")
            counts.append(count)
            end(&windows, "a", count, after: .milliseconds(100))
        }
        #expect(counts == [8, 16, 32, 64, 75, 75])
    }

    @Test("The window of a server that hangs shrinks to one, and recovers")
    func shrinks() {
        var windows = OriginConcurrencyLimiter(places: 100)
        let first = fill(&windows, "a")
        end(&windows, "a", first, after: .seconds(5))
        #expect(fill(&windows, "a") == 1)
        end(&windows, "a", 1, after: .milliseconds(100))
        #expect(fill(&windows, "a") == 2)
    }

    @Test("Unknown servers share half of the places, however many they are")
    func strangers() {
        var windows = OriginConcurrencyLimiter(places: 100)
        let known = fill(&windows, "known")
        end(&windows, "known", known, after: .milliseconds(100))
        var count = 0
        for index in 0..<2000 { count += fill(&windows, "s\(index)") }
        #expect(count == 50)
        #expect(fill(&windows, "known") == 16)
        end(&windows, "s0", 8, after: .milliseconds(100))
        #expect(fill(&windows, "another") == 1)
    }

    @Test("Only deliveries for servers that answer are kept in stock")
    func shares() {
        var windows = OriginConcurrencyLimiter(places: 100)
        #expect(windows.share(of: "a") == 0)
        let count = fill(&windows, "a")
        #expect(windows.share(of: "a") == 8)
        end(&windows, "a", count, after: .milliseconds(100))
        #expect(windows.share(of: "a") == 32)
    }

    @Test("A server that is a setting has no window")
    func setting() {
        var windows = OriginConcurrencyLimiter(places: 1)
        for _ in 0..<10 { windows.begin(nil) }
        #expect(windows.admits(nil))
    }
}
