import Testing

@testable import letsswitch_bench

@Suite struct ReportTests {
    @Test(
        "Numbers are formatted with units and separators",
        arguments: [
            (0.0, "0.00"), (0.483, "0.48"), (5.2, "5.20"), (19.995, "20.00"), (22, "22"), (33.26, "33.3"),
            (1_234.5, "1,235"), (45_000, "45,000"), (1_234_567, "1,234,567"), (-3.5, "-3.50"),
        ])
    func numbers(value: Double, text: String) {
        #expect(Column.number(value) == text)
    }

    @Test("Columns are as wide as their widest entry")
    func columns() {
        #expect(Column.align([["a", "10", "x"], ["bcd", "9", "yz"]]) == "a    10  x \nbcd   9  yz")
    }

    @Test(
        "The median is the value in the middle",
        arguments: [([], 0), ([3], 3), ([9, 1, 5], 5), ([4, 1, 3, 2], 2.5)] as [([Double], Double)])
    func median(values: [Double], median: Double) {
        #expect(values.median == median)
    }

    private func sample(cost: Double) -> Sample {
        var sample = Sample()
        (sample.work, sample.serverCPU, sample.seconds) = (1_000_000, cost, 1)
        return sample
    }

    @Test("The ratio is the median of the rounds' ratios")
    func ratio() {
        let baseline = [4.0, 40, 5].map(sample)
        let daemon = [4.4, 44, 10].map(sample)
        #expect(abs(Row.ratio(of: daemon, to: baseline) - 1.1) < 1e-9)
    }

    @Test("A limit is met by the figure or by the ratio", arguments: [(5.0, true), (5.4, true), (6.0, false)])
    func bound(cost: Double, isMet: Bool) throws {
        let workload = try #require(Workload.all.first { $0.id == "ale-2" })
        let row = Row(workload, [[sample(cost: 5)], [sample(cost: cost)]])
        #expect(row.isMet == isMet)
        #expect(row.wanted == "≤ 5.20 or ratio ≤ 1.10")
    }
}
