import Glibc

/// The terminal that the daemon was started from, if any.
///
/// SIGHUP has two meanings: the terminal is gone, or the settings must be read again. If the terminal is gone, the
/// kernel reports errors for its descriptors.
struct ControllingTerminal: Sendable {
    private let descriptors: [Int32]

    /// Created at start.
    init(among descriptors: [Int32] = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]) {
        self.descriptors = descriptors.filter { isatty($0) == 1 }
    }

    var isGone: Bool {
        !descriptors.isEmpty && descriptors.allSatisfy { isatty($0) == 0 }
    }
}
