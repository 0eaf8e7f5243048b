import Glibc

/// Why a benchmark came to nothing: for the person at the terminal.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// A system call's failure, from `errno`.
    init(call: String) {
        description = "\(call): \(String(cString: strerror(errno)))"
    }
}
