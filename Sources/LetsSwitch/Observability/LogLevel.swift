/// How much an event matters. Titles of tasks appear at `debug` only.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rank < b.rank }
}
