import Glibc

/// A running server process: a child of this process, or one that an earlier daemon left running.
struct Postmaster: Sendable {
    let pid: pid_t
    let isChild: Bool
    let data: Directory
    /// The directory of the server's socket.
    let sockets: String

    /// Whether the server is running. If it is a child that has ended, this also reaps it.
    var isRunning: Bool {
        if isChild {
            var status: Int32 = 0
            let ended = waitpid(pid, &status, WNOHANG)
            // ECHILD means that the child was reaped before.
            return ended == 0 || (ended < 0 && errno == EINTR)
        }
        guard let file = PostmasterFile(data: data), file.pid == pid else { return false }
        return file.isRunning(in: data)
    }

    /// Sends a signal (PostgreSQL 15 manual, 19.5). SIGINT disconnects the clients and stops the server cleanly.
    /// SIGQUIT stops the server immediately, so the next start has to recover.
    func signal(_ number: Int32) {
        kill(pid, number)
    }
}

/// The content of `postmaster.pid`, which a running PostgreSQL server keeps in its data directory. Each line has one
/// value (miscadmin.h).
struct PostmasterFile: Equatable {
    let pid: pid_t
    let dataDirectory: String
    let port: Int
    let socketDirectory: String
    let isReady: Bool

    /// Returns `nil` if the file is missing or incomplete.
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

    /// Whether the process in the file is a server of this data directory. Another process may have got the same
    /// number, especially in a container, where numbers start from 1 again.
    func isRunning(in data: Directory) -> Bool {
        let process = Directory(path: "/proc/\(pid)")
        guard let status = SmallFile.tail(process.appending("stat").path) else { return false }
        // The text is like "123 (postgres) S …". A zombie counts as ended.
        guard let name = status.firstIndex(of: "("), let end = status.lastIndex(of: ")") else { return false }
        guard status[name...end] == "(postgres)" else { return false }
        guard !status[end...].hasPrefix(") Z") else { return false }
        // The server's working directory is its data directory.
        guard let cwd = process.appending("cwd").realPath, let expected = data.realPath else { return false }
        return cwd == expected
    }
}
