import Glibc

/// Where lines go; each leaves at once.
struct Output {
    /// Readable text; else each of the server's objects is a line as it came.
    let isTerminal = isatty(STDOUT_FILENO) == 1

    /// A line of the server's, or its reading for people.
    func tell(_ object: String, _ text: @autoclosure () -> String) {
        let line = isTerminal ? text() : object.filter { !$0.isNewline }
        Self.write(line + "\n", to: STDOUT_FILENO)
    }

    func say(_ text: String) {
        Self.write(text + "\n", to: STDOUT_FILENO)
    }

    func complain(_ text: String) {
        Self.write(text + "\n", to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: CInt) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            // Nobody reads any more: there is nobody to tell.
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
