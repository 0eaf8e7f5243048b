import Basics
import Notifications
import Testing

@testable import LetsSwitch

/// The history of samples, and how readings become a sample.
@Suite struct SampleHistoryTests {
    private func sample(_ values: [SampleSeries: Double]) -> Sample {
        var sample = Sample()
        for (series, value) in values { sample[series] = value }
        return sample
    }

    @Test("Each point is the mean or the maximum of its span")
    func spans() {
        var history = SampleHistory()
        for second in 0..<150 where second != 147 {
            history.add(sample([.people: Double(second), .late: Double(second % 7)]), at: second)
        }
        let minute = history.points(.people, of: .minute)
        #expect(minute.count == 60 && minute.first == 90 && minute.last == 149 && minute[57] == nil)
        let hour = history.points(.people, of: .hour)
        #expect(hour.count == 60 && hour.prefix(57).allSatisfy { $0 == nil })
        #expect(hour[57] == 29.5 && hour[58] == 89.5)
        #expect(history.points(.late, of: .hour).suffix(3) == [6, 6, 6])
        #expect(history.points(.late, of: .day).count == 24 && history.points(.late, of: .day).last == 6)
        #expect(history.points(.rooms, of: .minute).allSatisfy { $0 == nil })
    }

    @Test("The memory of the history is limited")
    func bounded() {
        var history = SampleHistory()
        for second in stride(from: 0, to: 400_000, by: 50) { history.add(sample([.people: 1]), at: second) }
        for span in SampleHistory.Span.allCases {
            #expect(history.points(.people, of: span).compactMap { $0 }.count == (span == .minute ? 2 : span.points))
        }
        history.add(sample([.people: 5]), at: 900_000)
        for span in SampleHistory.Span.allCases {
            #expect(history.points(.people, of: span).compactMap { $0 } == [5])
        }
    }

    @Test("A sample has counts per second, mean times, and the database's own values")
    func readings() {
        var first = Readings(at: MonotonicTime(nanoseconds: 1_000_000_000))
        first.counters = [.sent: 100, .accepted(.ntfy): 1]
        first.queries = .init(count: 10, sum: 1)
        var second = Readings(at: MonotonicTime(nanoseconds: 3_000_000_000))
        second.gauges = [.people: 7]
        second.counters = [.sent: 140, .accepted(.ntfy): 1]
        second.queries = .init(count: 14, sum: 1.02)
        let sample = second.sample(since: first, due: (3, 0.25))
        #expect(sample[.people] == 7 && sample[.sent] == 20 && sample[.accepted(.ntfy)] == 0)
        #expect(sample[.due] == 3 && sample[.late] == 0.25)
        #expect(abs((sample[.queryTime] ?? 0) - 5) < 0.001)
        let alone = second.sample(since: second, due: nil)
        #expect(alone[.due] == nil && alone[.late] == nil && alone[.queryTime] == nil)
        second.lateness = .init(count: 2, sum: 3)
        #expect(second.sample(since: first, due: nil)[.late] == 1.5)
    }

    @Test("Several daemons are shown by their sum or maximum")
    func joining() throws {
        var own = sample([.people: 3, .due: 9])
        let text = String(decoding: sample([.people: 4, .due: 8, .late: 2]).json, as: UTF8.self)
        own.join(try #require(Sample(json: #"{"unheardOf":1,"# + text.dropFirst())))
        #expect(own == sample([.people: 7, .due: 9, .late: 2]))
        #expect(Sample(json: "nonsense") == nil)
    }
}
