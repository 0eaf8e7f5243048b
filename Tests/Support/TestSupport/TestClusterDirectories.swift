import Foundation
import Glibc
import Synchronization

/// This process's temporary directories, mostly of clusters. They are created on demand and removed, with their
/// servers, at exit or by the next test process.
///
/// A directory is named after the process that created it: `/dev/shm/ls-<pid>-<n>`. It is in memory if there is enough,
/// because a run creates a thousand databases of three hundred files each, which takes most of the time on a disk.
package struct TestClusterDirectories: Sendable {
    package static let shared = TestClusterDirectories()

    private static let memory = "/dev/shm"
    private static let disk = "/tmp"
    /// The free memory required. A run uses less than half of it.
    private static let wantedBytes: UInt64 = 4 << 30
    private static let parent = hasMemory() ? memory : disk
    private static let prefix = "ls-"
    private static let made = Atomic<Int>(0)

    private init() {
        Self.clearLeftovers()
        // A C function can't capture variables, so the directories are found by their names.
        atexit { TestClusterDirectories.clear { $0 == getpid() } }
    }

    private static func hasMemory() -> Bool {
        var status = statvfs()
        guard access(memory, W_OK) == 0, statvfs(memory, &status) == 0 else { return false }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= wantedBytes
    }

    /// Makes an empty directory that the cluster's user can enter.
    package func make() -> String {
        let number = Self.made.add(1, ordering: .relaxed).newValue
        let path = "\(Self.parent)/\(Self.prefix)\(getpid())-\(number)"
        mkdir(path, 0o755)
        chmod(path, 0o755)
        return path
    }

    /// Removes directories of processes that ended without doing so.
    private static func clearLeftovers() {
        clear { $0 == getpid() || (kill($0, 0) != 0 && errno == ESRCH) }
    }

    /// Removes the wanted directories of this user only.
    private static func clear(_ isWanted: (pid_t) -> Bool) {
        for parent in [memory, disk] { clear(parent, isWanted) }
    }

    private static func clear(_ parent: String, _ isWanted: (pid_t) -> Bool) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let parts = name.dropFirst(prefix.count).split(separator: "-")
            guard parts.count == 2, let pid = pid_t(parts[0]), Int(parts[1]) != nil, isWanted(pid) else { continue }
            let path = "\(parent)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, status.st_uid == geteuid() else { continue }
            stopServer(path)
            // The next process deletes what can't be deleted now.
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Stops a server at once, since its data isn't needed.
    private static func stopServer(_ path: String) {
        guard let file = fopen("\(path)/postgres/data/postmaster.pid", "re") else { return }
        var line = [CChar](repeating: 0, count: 32)
        let read = fgets(&line, 32, file) != nil
        fclose(file)
        let digits = line.prefix { $0 >= 48 && $0 <= 57 }.map { UInt8(bitPattern: $0) }
        guard read, let server = pid_t(String(decoding: digits, as: UTF8.self)), server > 1 else { return }
        var cwd = [CChar](repeating: 0, count: 512)
        // Another process may have this number by now. The server is the process whose working directory is this one.
        let length = readlink("/proc/\(server)/cwd", &cwd, cwd.count)
        let directory = cwd.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
        guard String(decoding: directory, as: UTF8.self) == "\(path)/postgres/data" else { return }
        kill(server, SIGQUIT)
        for _ in 0..<500 {
            var status: Int32 = 0
            // A child process must be reaped, or its number stays in use.
            if waitpid(server, &status, WNOHANG) == server { return }
            if kill(server, 0) != 0 { return }
            usleep(10_000)
        }
        kill(server, SIGKILL)
    }
}
