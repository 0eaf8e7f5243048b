import Delivery

/// One number that is watched over time. Their order is that of a ``Sample``.
struct SampleSeries: Sendable, Hashable {
    /// How it is put together, of several daemons and of several moments.
    enum Joining: Sendable {
        /// The daemons' sum; of moments the mean.
        case sum
        /// The most of either.
        case most
    }

    let name: String
    let joining: Joining

    /// A number of now, or so many a second.
    static func sum(_ name: String) -> SampleSeries { SampleSeries(name: name, joining: .sum) }
    static func most(_ name: String) -> SampleSeries { SampleSeries(name: name, joining: .most) }

    /// All that there are: what a history holds is bounded by it.
    static let all: [SampleSeries] =
        [people, rooms, received, sent, due, late, busIn, busOut, busLost, queries, queryFailures, queryTime, waiting]
        + ProviderName.allCases.flatMap { [accepted($0), failed($0)] }

    static let people = sum("people")
    static let rooms = sum("rooms")
    /// Messages a second.
    static let received = sum("received")
    static let sent = sum("sent")
    /// Reminders of the next hour; the same for all daemons of a database.
    static let due = most("due")
    /// Seconds that reminders were late, or are.
    static let late = most("late")
    /// Packets a second.
    static let busIn = sum("busIn")
    static let busOut = sum("busOut")
    /// Ales a second that didn't arrive, or weren't told.
    static let busLost = sum("busLost")
    /// Statements a second.
    static let queries = sum("queries")
    static let queryFailures = sum("queryFailures")
    /// Milliseconds that a statement took.
    static let queryTime = most("queryTime")
    /// Statements without a connection.
    static let waiting = sum("waiting")

    /// Attempts a second.
    static func accepted(_ provider: ProviderName) -> SampleSeries { sum("accepted.\(provider.rawValue)") }
    static func failed(_ provider: ProviderName) -> SampleSeries { sum("failed.\(provider.rawValue)") }
}

/// What the series were at one moment; what nobody knows isn't there.
struct Sample: Sendable, Equatable {
    private(set) var values: [SampleSeries: Double] = [:]

    subscript(series: SampleSeries) -> Double? {
        get { values[series] }
        set { values[series] = newValue.flatMap { $0.isFinite ? $0 : nil } }
    }

    /// Together with that of another daemon.
    mutating func join(_ other: Sample) {
        for (series, value) in other.values {
            switch (series.joining, values[series]) {
            case (.sum, let own): values[series] = (own ?? 0) + value
            case (.most, let own): values[series] = max(own ?? value, value)
            }
        }
    }
}
