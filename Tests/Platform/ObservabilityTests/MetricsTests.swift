import Dispatch
import Glibc
import Testing

@testable import Observability

@Suite struct MetricsTests {
    private func render(_ write: (inout MetricsText) -> Void) -> String {
        var text = MetricsText()
        write(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test("A page has a head for each family and a line for each sample")
    func pageHasHeadForEachFamilyAndLineForEachSample() {
        let page = render {
            $0.counter("a_total", "Things.", 3)
            $0.counter(
                "b_total", "By kind.",
                [MetricSample(["kind": "x", "to": "y"], 1), MetricSample(["kind": "z"], 0)])
            $0.gauge("c", "Now.", 1.5)
        }
        #expect(
            page == """
                # HELP a_total Things.
                # TYPE a_total counter
                a_total 3
                # HELP b_total By kind.
                # TYPE b_total counter
                b_total{kind="x",to="y"} 1
                b_total{kind="z"} 0
                # HELP c Now.
                # TYPE c gauge
                c 1.5

                """)
    }

    @Test("Labels and help are escaped differently") func labelsAndHelpAreEscapedEachItsOwnWay() {
        let page = render { $0.gauge("g", "a \\ \"b\"\nc", [MetricSample(["l": "a \\ \"b\"\nc"], 0)]) }
        #expect(
            page == """
                # HELP g a \\\\ "b"\\nc
                # TYPE g gauge
                g{l="a \\\\ \\"b\\"\\nc"} 0

                """)
    }

    @Test(
        "Numbers have the format that Prometheus reads",
        arguments: [
            (Double.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e300, "1e+300"), (0.0001, "0.0001"),
            (1_048_576, "1048576"), (-2, "-2"),
        ])
    func numbersAreWrittenAsPrometheusReadsThem(_ value: Double, _ text: String) {
        #expect(render { $0.gauge("g", "h", value) }.hasSuffix("\ng \(text)\n"))
    }

    @Test("A family without samples is left out") func familyWithoutSamplesIsLeftOut() {
        #expect(render { $0.counter("a_total", "h", []) }.isEmpty)
        #expect(render { $0.histogram("a", "h", []) }.isEmpty)
    }

    @Test("A histogram is cumulative with inclusive bounds") func histogramIsCumulativeWithInclusiveBounds() {
        var histogram = Histogram(bounds: [0.1, 1])
        for value in [0.05, 0.1, 0.5, 2, 3] { histogram.observe(value) }
        #expect(
            render { $0.histogram("h", "h", [MetricSample(["l": "v"], histogram)]) } == """
                # HELP h h
                # TYPE h histogram
                h_bucket{l="v",le="0.1"} 2
                h_bucket{l="v",le="1"} 3
                h_bucket{l="v",le="+Inf"} 5
                h_sum{l="v"} 5.65
                h_count{l="v"} 5

                """)
    }

    @Test("Histograms of several loops add up") func histogramsOfSeveralLoopsAddUp() {
        var (a, b, both) = (Histogram(bounds: [1]), Histogram(bounds: [1]), Histogram(bounds: [1]))
        a.observe(0.5)
        b.observe(2)
        for value in [0.5, 2] { both.observe(value) }
        a.add(b)
        #expect(a == both)
    }

    @Test("Concurrent observations are all counted") func manyThreadsLoseNoObservation() {
        let histogram = SharedHistogram(bounds: [0.001, 1])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<1000 { histogram.observe(.milliseconds(500)) }
        }
        histogram.observe(.seconds(-5))
        #expect(histogram.snapshot.counts == [1, 8000, 0])
        #expect(histogram.snapshot.sum == 4000)
    }

    @Test("The stat line of a process is parsed whatever its name")
    func statLineOfProcessIsParsedWhateverItsName() throws {
        let stat =
            "42 (a) b (c) S 1 42 42 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 7 0 1000 4096000 25 18446744073709551615 1"
        let metrics = try #require(
            ProcessMetrics(stat: stat, bootSeconds: 1_000_000, ticksPerSecond: 100, pageBytes: 4096))
        #expect(metrics.cpuSeconds == 2)
        #expect(metrics.threads == 7)
        #expect(metrics.startSeconds == 1_000_010)
        #expect(metrics.virtualBytes == 4_096_000)
        #expect(metrics.residentBytes == 102_400)
        #expect(ProcessMetrics(stat: "42 (a) S 1", bootSeconds: 0, ticksPerSecond: 100, pageBytes: 4096) == nil)
        #expect(ProcessMetrics.bootSeconds("cpu 1 2\nbtime 1700000000\nx 1\n") == 1_700_000_000)
    }

    @Test("This process is alive, and its memory and age are plausible") func thisProcessIsAliveSmallAndYoung() throws {
        let metrics = try #require(ProcessMetrics.current())
        #expect(metrics.residentBytes > 1_000_000 && metrics.residentBytes < metrics.virtualBytes)
        #expect(metrics.threads >= 1)
        #expect(abs(metrics.startSeconds - Double(time(nil))) < 3_600)
        let open = try #require(metrics.openDescriptors)
        #expect(open >= 3 && open <= metrics.maxDescriptors ?? 0)
    }

    @Test("The kernel's number of descriptors equals the counted one")
    func kernelsNumberOfDescriptorsEqualsCountedOne() throws {
        // Other tests open and close descriptors meanwhile. At least these 300 stay open.
        let own = (0..<300).map { _ in dup(0) }.filter { $0 >= 0 }
        defer { for descriptor in own { close(descriptor) } }
        #expect(own.count == 300)
        #expect(try #require(ProcFile.openDescriptors()) >= 300)
        #expect(try #require(ProcFile.entries("/proc/self/fd")) >= 300)
        #expect(ProcFile.entries("/proc/self/no-such-directory") == nil)
    }
}
