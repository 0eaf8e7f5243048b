import FoundationEssentials
import Glibc

/// What was to be told couldn't be: a full disk, or a reader that has gone.
struct OutputFailure: Error, CustomStringConvertible {
    let code: CInt
    var description: String { "the output: \(String(cString: strerror(code)))" }
}

/// Where lines go; each leaves at once. SIGPIPE is ignored.
struct Output {
    /// Readable text; else each of the server's objects is a line as it came.
    let isTerminal = isatty(STDOUT_FILENO) == 1

    /// A line of the server's, or its reading for people.
    func tell(_ object: String, _ text: @autoclosure () -> String) throws(OutputFailure) {
        guard isTerminal else {
            let line = object.unicodeScalars.filter { $0 != "\n" && $0 != "\r" }
            return try Self.write(String(String.UnicodeScalarView(line)) + "\n", to: STDOUT_FILENO)
        }
        try say(text())
    }

    func say(_ text: String) throws(OutputFailure) {
        try Self.write(Self.harmless(text) + "\n", to: STDOUT_FILENO)
    }

    /// In a terminal: a line that stays, and below all such lines one that is written over by the next.
    func rewrite(_ line: String?, below status: String) throws(OutputFailure) {
        let line = line.map { Self.harmless($0) + "\n" } ?? ""
        // One that wraps couldn't be written over.
        let short = String(Self.harmless(Self.inLine(status)).prefix(max(1, Self.columns() - 1)))
        try Self.write("\r\u{1B}[K" + line + short, to: STDOUT_FILENO)
    }

    private static func columns() -> Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func complain(_ text: String) {
        // Who doesn't hear complaints has the exit status.
        try? Self.write(Self.harmless(text) + "\n", to: STDERR_FILENO)
    }

    /// A title is a stranger's: what a terminal would obey, or what turns the line's direction, is shown as a replacement character.
    static func harmless(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.value {
            case 0x09, 0x0A: scalar
            case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// A stranger's text that stands in a line of ours: no line of it looks like one.
    static func indented(_ text: String) -> String { text.breakingLines(with: "\n    ") }

    /// The same for what has one line, such as a title.
    static func inLine(_ text: String) -> String { text.breakingLines(with: " ") }

    private static func write(_ text: String, to descriptor: CInt) throws(OutputFailure) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw OutputFailure(code: errno) }
            rest = rest.dropFirst(max(0, count))
        }
    }
}

extension String {
    /// With `separator` for each line break that there is (UAX #14: BK, CR, LF, NL). By its scalars: CR and LF are one character, which
    /// is none of the two.
    fileprivate func breakingLines(with separator: String) -> String {
        var result = UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x0A where last == "\r": break
            case 0x0A...0x0D, 0x85, 0x2028...0x2029: result.append(contentsOf: separator.unicodeScalars)
            default: result.append(scalar)
            }
            last = scalar
        }
        return String(result)
    }
}
