import Glibc

/// The terminal at which the daemon was started, if it was.
///
/// SIGHUP has two meanings: the terminal is gone, or settings are to be read again. After a hang-up the kernel answers for none
/// of the terminal's descriptors any more, which tells the two apart.
struct ControllingTerminal: Sendable {
    private let descriptors: [Int32]

    /// To be made at start.
    init(among descriptors: [Int32] = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]) {
        self.descriptors = descriptors.filter { isatty($0) == 1 }
    }

    var isGone: Bool {
        !descriptors.isEmpty && descriptors.allSatisfy { isatty($0) == 0 }
    }
}
