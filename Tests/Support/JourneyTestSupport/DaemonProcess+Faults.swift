import Foundation
import Glibc
package import TestSupport
import Testing

extension DaemonProcess {
    /// Kills the process with SIGKILL, and returns when it has ended.
    package func kill9() async throws {
        await signal(SIGKILL)
        #expect(try await waitForExit() == .signalled(SIGKILL))
    }

    /// Stops the process with SIGSTOP, and returns when none of its threads runs any more.
    package func freeze() async throws {
        await signal(SIGSTOP)
        try await eventually("all threads stopped") { try threadStates().allSatisfy { $0 == "T" || $0 == "t" } }
    }

    package func thaw() async { await signal(SIGCONT) }

    /// The states of the process's threads, as the letters of proc(5), `/proc/pid/task/tid/stat`.
    private func threadStates() throws -> [Character] {
        let tasks = "/proc/\(process.pid)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap { task in
            // A thread that has ended meanwhile has no state.
            guard let line = try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8),
                let name = line.lastIndex(of: ")")
            else { return nil }
            return line[line.index(after: name)...].first { $0 != " " }
        }
    }
}
