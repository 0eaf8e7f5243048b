import Glibc

/// A running server process: our child, or one that a daemon before us left running.
struct Postmaster: Sendable {
    let pid: pid_t
    let isChild: Bool
    let data: Directory
    /// Where its socket is.
    let sockets: String

    /// Whether it still runs; reaps it when it was our child and has ended.
    var isRunning: Bool {
        if isChild {
            var status: Int32 = 0
            let ended = waitpid(pid, &status, WNOHANG)
            // ECHILD: reaped before.
            return ended == 0 || (ended < 0 && errno == EINTR)
        }
        guard let file = PostmasterFile(data: data), file.pid == pid else { return false }
        return file.isRunning(in: data)
    }

    /// PostgreSQL 15 manual, 19.5: SIGINT disconnects the clients and stops cleanly, SIGQUIT stops at once and leaves
    /// recovery to the next start.
    func signal(_ number: Int32) {
        kill(pid, number)
    }
}
