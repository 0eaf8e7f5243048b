import Testing

@testable import letsswitch_bench

@Suite struct LatencyHistogramTests {
    @Test(
        "A quantile is accurate to 1.6 %",
        arguments: [0, 1, 63, 64, 65, 127, 128, 1_000, 33_333, 1_000_000, 987_654_321])
    func oneValue(nanoseconds: UInt64) {
        var histogram = LatencyHistogram()
        histogram.add(nanoseconds: nanoseconds)
        for quantile in [0.0, 0.5, 0.99, 1] {
            let found = histogram.microseconds(quantile: quantile) * 1e3
            #expect(abs(found - Double(nanoseconds)) <= Double(nanoseconds) / 64)
        }
    }

    @Test("Quantiles are taken from sorted latencies")
    func manyValues() {
        var histogram = LatencyHistogram()
        for value in (1...1_000).shuffled() { histogram.add(nanoseconds: UInt64(value) * 1_000) }
        #expect(histogram.count == 1_000)
        for (quantile, wanted) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0), (1.0, 1_000.0)] {
            #expect(abs(histogram.microseconds(quantile: quantile) - wanted) <= wanted / 60)
        }
    }

    @Test("The longest possible latency has a bucket")
    func longest() {
        var histogram = LatencyHistogram()
        histogram.add(nanoseconds: .max)
        #expect(histogram.microseconds(quantile: 0.5) > 1e16)
    }

    @Test("Every quantile of an empty histogram is 0")
    func empty() {
        #expect(LatencyHistogram().microseconds(quantile: 0.99) == 0)
    }
}
