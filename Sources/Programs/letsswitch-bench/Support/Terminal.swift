import Glibc

/// Prints results to standard output, and progress and errors to standard error.
enum Terminal {
    static func print(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    static func note(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                // The reader has closed the pipe.
                return
            }
        }
    }
}

/// The reason why a benchmark failed, as text for the terminal.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Creates the failure of a system call, from `errno`.
    init(call: String, _ error: Int32 = errno) {
        description = "\(call): \(String(cString: strerror(error)))"
    }
}
