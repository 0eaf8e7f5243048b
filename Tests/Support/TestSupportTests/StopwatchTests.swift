import Testing

@testable import TestSupport

@Suite struct StopwatchTests {
    @Test("The machine's delays aren't counted, except in a running stopwatch")
    func counted() {
        for (passed, allowance, counted) in [
            (8_000, 0, 8_000), (8_000, 3_000, 5_000), (8_000, 8_000, 800), (8_000, 90_000, 800),
        ] {
            #expect(
                Stopwatch.counted(of: .milliseconds(passed), allowance: .milliseconds(allowance))
                    == .milliseconds(counted))
        }
    }

    @Test("The stopwatch runs while work runs or waits")
    func goesOn() async throws {
        let stopwatch = Stopwatch()
        let first = stopwatch.passed
        // This loop ends even if other programs use the machine.
        while stopwatch.elapsed < .milliseconds(20) { try await Task.sleep(for: .milliseconds(1)) }
        #expect(stopwatch.passed >= .milliseconds(20) && stopwatch.passed > first)
    }
}
