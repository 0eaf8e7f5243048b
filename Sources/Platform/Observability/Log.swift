import Glibc

/// The daemon's log: one line per event, on standard output.
///
/// ```swift
/// log.info("reminder", ["task": .string(id), "device": .device(deviceId), "late_ms": .milliseconds(late)])
/// ```
///
/// Any thread may use the log, and no call blocks: the caller's thread formats a line, and ``LogWriter`` writes it. If
/// a level is disabled, its arguments aren't evaluated.
package struct Log: Sendable {
    package typealias Values = KeyValuePairs<String, LogValue>

    package let level: LogLevel
    private let line: LogLine
    private let writer: LogWriter

    /// - Parameters:
    ///   - format: The format of the lines. `nil` chooses text for a terminal, and JSON otherwise.
    ///   - descriptor: The descriptor to write to. It must stay open as long as the process runs. The process must
    ///     ignore SIGPIPE.
    package init(level: LogLevel, format: LogFormat?, descriptor: Int32 = STDOUT_FILENO) {
        let isTerminal = isatty(descriptor) == 1
        self.init(
            level: level,
            line: LogLine(format: format ?? (isTerminal ? .text : .json), colours: isTerminal && Self.wantsColours),
            descriptor: descriptor)
    }

    init(level: LogLevel, line: LogLine, descriptor: Int32, limit: Int = LogWriter.maxWaitingBytes) {
        self.level = level
        self.line = line
        writer = LogWriter(descriptor: descriptor, limit: limit) { count in
            line.encode(.warning, "log lines dropped", ["count": .int(count)], at: .now())
        }
    }

    package func debug(_ event: @autoclosure () -> String, _ values: @autoclosure () -> Values = [:]) {
        log(.debug, event(), values())
    }

    package func info(_ event: @autoclosure () -> String, _ values: @autoclosure () -> Values = [:]) {
        log(.info, event(), values())
    }

    package func warning(_ event: @autoclosure () -> String, _ values: @autoclosure () -> Values = [:]) {
        log(.warning, event(), values())
    }

    package func error(_ event: @autoclosure () -> String, _ values: @autoclosure () -> Values = [:]) {
        log(.error, event(), values())
    }

    package func log(_ level: LogLevel, _ event: @autoclosure () -> String, _ values: @autoclosure () -> Values = [:]) {
        guard level >= self.level else { return }
        writer.write(line.encode(level, event(), values(), at: .now()))
    }

    /// Waits until all lines are written, at most `patience`. This is for the exit of the process. It blocks, so never
    /// call it on an event loop.
    @discardableResult
    package func flush(within patience: Duration = .seconds(1)) -> Bool {
        writer.flush(within: patience)
    }

    /// Whether the environment permits colours (https://no-color.org), and the terminal has them.
    private static var wantsColours: Bool {
        func variable(_ name: String) -> String {
            getenv(name).map { String(cString: $0) } ?? ""
        }
        return variable("NO_COLOR").isEmpty && variable("TERM") != "dumb"
    }
}

/// The importance of an event. Titles of tasks appear only at `debug`.
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

/// A value of an event. It must never be a secret.
package enum LogValue: Sendable, Equatable {
    case string(String)
    case int(Int)
    case double(Double)
    case bool(Bool)

    /// A duration in milliseconds, with a fraction. The key should end with `_ms`.
    package static func milliseconds(_ duration: Duration) -> LogValue {
        let (seconds, attoseconds) = duration.components
        // The value is rounded to whole microseconds, because more digits don't help in a log.
        return .double(Double(seconds) * 1e3 + Double(attoseconds / 1_000_000_000_000) / 1e3)
    }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .int(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}
