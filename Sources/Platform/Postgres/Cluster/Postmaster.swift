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

/// `postmaster.pid`, which a running PostgreSQL server keeps in its data directory (miscadmin.h: one fact a line).
struct PostmasterFile: Equatable {
    let pid: pid_t
    let dataDirectory: String
    let port: Int
    let socketDirectory: String
    let isReady: Bool

    /// nil when it is missing or not written to its end yet.
    init?(data: Directory) {
        guard let text = SmallFile.tail(data.appending("postmaster.pid").path) else { return nil }
        self.init(text: text)
    }

    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 5, let pid = pid_t(lines[0]), pid > 1, let port = Int(lines[3]) else { return nil }
        self.pid = pid
        self.port = port
        dataDirectory = String(lines[1])
        socketDirectory = String(lines[4])
        isReady = lines.count >= 8 && lines[7].hasPrefix("ready")
    }

    /// Whether that process is a server of this data directory. The number may belong to another process by now,
    /// above all in a container, whose numbers start again from one.
    func isRunning(in data: Directory) -> Bool {
        let process = Directory(path: "/proc/\(pid)")
        guard let status = SmallFile.tail(process.appending("stat").path) else { return false }
        // "123 (postgres) S …": a zombie has ended.
        guard let name = status.firstIndex(of: "("), let end = status.lastIndex(of: ")") else { return false }
        guard status[name...end] == "(postgres)" else { return false }
        guard !status[end...].hasPrefix(") Z") else { return false }
        // The server works in its data directory.
        guard let cwd = process.appending("cwd").realPath, let expected = data.realPath else { return false }
        return cwd == expected
    }
}
