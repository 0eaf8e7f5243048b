/// How a process ended.
package enum ExitStatus: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)
    /// Other code reaped the process, or the test process ignores `SIGCHLD`.
    case unknown

    /// From `waitpid`'s status word (wait(2): WIFEXITED, WEXITSTATUS, WTERMSIG).
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited(waitStatus >> 8 & 0xFF) : .signalled(signal)
    }
}
