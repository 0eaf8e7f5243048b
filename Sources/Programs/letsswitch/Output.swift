import FoundationEssentials
import Glibc

/// A failure to write output, such as a full disk or a closed pipe.
struct OutputFailure: Error, CustomStringConvertible {
    let code: CInt
    var description: String { "can't write the output: \(String(cString: strerror(code)))" }
}

/// The standard output and error. Each line is written immediately, without a buffer. SIGPIPE is ignored.
struct Output {
    /// Whether the output is text for people. Otherwise each object from the server is written on one line.
    let isTerminal = isatty(STDOUT_FILENO) == 1

    /// Writes an object as the server sent it, or its text if the output is a terminal.
    func writeObject(_ object: String, _ text: @autoclosure () -> String) throws(OutputFailure) {
        guard isTerminal else {
            let line = object.unicodeScalars.filter { $0 != "\n" && $0 != "\r" }
            return try Self.write(String(String.UnicodeScalarView(line)) + "\n", to: STDOUT_FILENO)
        }
        try write(text())
    }

    func write(_ text: String) throws(OutputFailure) {
        try Self.write(Self.harmless(text) + "\n", to: STDOUT_FILENO)
    }

    /// Writes a permanent line and, below it, a status line that the next call overwrites. For terminals.
    func rewrite(_ line: String?, below status: String) throws(OutputFailure) {
        let line = line.map { Self.harmless($0) + "\n" } ?? ""
        // A status line that wraps couldn't be overwritten.
        let short = String(Self.harmless(Self.inLine(status)).prefix(max(1, Self.columns() - 1)))
        try Self.write("\r\u{1B}[K" + line + short, to: STDOUT_FILENO)
    }

    private static func columns() -> Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func writeError(_ text: String) {
        // If this fails, the exit status still reports the error.
        try? Self.write(Self.harmless(text) + "\n", to: STDERR_FILENO)
    }

    /// Replaces control characters and direction marks. Titles come from other people, so a text could contain terminal
    /// commands.
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

    /// Indents all lines but the first of another person's text, so that none of them looks like a line of this
    /// program.
    static func indented(_ text: String) -> String { text.breakingLines(with: "\n    ") }

    /// Joins the lines of a text that has to stay on one line, such as a title.
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
    /// Replaces each line break (UAX #14: BK, CR, LF, NL) by `separator`. The function works on scalars, because CR LF
    /// is one character, which equals neither CR nor LF.
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
