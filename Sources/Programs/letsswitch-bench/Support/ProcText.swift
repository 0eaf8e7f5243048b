import Basics

/// Reads small text files of the kernel, and the servers' output.
enum ProcText {
    /// Returns the whole file; `nil` if the file can't be read or is larger than 4 MiB.
    static func read(_ path: String) -> String? {
        (try? WholeFile(path, limit: 4 << 20))?.text
    }
}
