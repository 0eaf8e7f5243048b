import Notifications

/// A number that is recorded over time.
struct SampleSeries: Sendable, Hashable {
    /// The way in which values of several daemons and of several moments are combined.
    enum Joining: Sendable {
        /// Adds the values of all daemons, and averages over time.
        case sum
        /// Takes the maximum over all daemons and over time.
        case most
    }

    let name: String
    let joining: Joining

    /// A current number, or a number per second. The values of all daemons are added.
    static func sum(_ name: String) -> SampleSeries { SampleSeries(name: name, joining: .sum) }
    static func most(_ name: String) -> SampleSeries { SampleSeries(name: name, joining: .most) }

    /// All series. Their number bounds the size of a history.
    static let all: [SampleSeries] =
        [people, rooms, received, sent, due, late, busIn, busOut, busLost, queries, queryFailures, queryTime, waiting]
        + ProviderName.allCases.flatMap { [accepted($0), failed($0)] }

    static let people = sum("people")
    static let rooms = sum("rooms")
    /// Messages per second.
    static let received = sum("received")
    static let sent = sum("sent")
    /// The reminders of the next hour. All daemons of a database have the same number.
    static let due = most("due")
    /// The lateness of reminders, in seconds.
    static let late = most("late")
    /// Packets per second.
    static let busIn = sum("busIn")
    static let busOut = sum("busOut")
    /// Ales per second that were lost or not sent.
    static let busLost = sum("busLost")
    /// Statements per second.
    static let queries = sum("queries")
    static let queryFailures = sum("queryFailures")
    /// The mean time of a statement, in milliseconds.
    static let queryTime = most("queryTime")
    /// Statements that wait for a connection.
    static let waiting = sum("waiting")

    /// Attempts per second.
    static func accepted(_ provider: ProviderName) -> SampleSeries { sum("accepted.\(provider.rawValue)") }
    static func failed(_ provider: ProviderName) -> SampleSeries { sum("failed.\(provider.rawValue)") }
}

/// The values of the series at one moment. Unknown values are absent.
struct Sample: Sendable, Equatable {
    private(set) var values: [SampleSeries: Double] = [:]

    subscript(series: SampleSeries) -> Double? {
        get { values[series] }
        set { values[series] = newValue.flatMap { $0.isFinite ? $0 : nil } }
    }

    /// Combines this sample with the sample of a different daemon.
    mutating func join(_ other: Sample) {
        for (series, value) in other.values {
            switch (series.joining, values[series]) {
            case (.sum, let own): values[series] = (own ?? 0) + value
            case (.most, let own): values[series] = max(own ?? value, value)
            }
        }
    }
}
