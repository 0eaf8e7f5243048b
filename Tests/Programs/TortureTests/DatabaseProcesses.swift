import Foundation
import Glibc
import TestSupport

/// A PostgreSQL server's processes: the postmaster and its children.
enum DatabaseProcesses {
    /// Kills all of them with SIGKILL. Returns when none is left.
    static func kill9(postmaster: pid_t) async throws {
        // A stopped postmaster starts no more children. Children that outlive it would continue their work.
        kill(postmaster, SIGSTOP)
        let processes = [postmaster] + children(of: postmaster)
        for process in processes { kill(process, SIGKILL) }
        try await eventually("the database's end by SIGKILL") { !processes.contains(where: isAlive) }
    }

    private static func children(of parent: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { status(of: $0)?.parent == parent }
    }

    /// A zombie has ended. Its parent may reap it later.
    private static func isAlive(_ process: pid_t) -> Bool {
        guard let status = status(of: process) else { return false }
        return status.state != "Z" && status.state != "X"
    }

    /// The format is that of proc(5): "123 (postgres) S 1 …".
    private static func status(of process: pid_t) -> (state: Substring, parent: pid_t)? {
        guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let name = line.lastIndex(of: ")")
        else { return nil }
        let fields = line[line.index(after: name)...].split(separator: " ")
        guard fields.count > 1, let parent = pid_t(fields[1]) else { return nil }
        return (fields[0], parent)
    }
}
