import Foundation
import Glibc
import TestSupport

/// A file system of a few megabytes for a tablespace, which can be filled. The process needs the right to mount.
struct SmallDisk {
    let path: String
    private var filler: String { path + "/filler" }

    /// Whether this process may mount file systems.
    static let isPossible: Bool = {
        let path = "/tmp/ls-mount-\(getpid())"
        guard mkdir(path, 0o700) == 0 else { return false }
        defer { rmdir(path) }
        guard (try? run("/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "none", path])) != nil else { return false }
        try? run("/bin/umount", [path])
        return true
    }()

    /// Mounts the disk next to the cluster's data. The cluster's user gets the directory `tablespace` on it.
    init(of cluster: TestCluster) throws {
        path = cluster.stateDirectory + "/disk"
        var data = stat()
        guard stat(cluster.stateDirectory + "/postgres/data", &data) == 0, mkdir(path, 0o755) == 0 else {
            throw ClientFailure.system(call: "mkdir", code: errno)
        }
        try Self.run("/bin/mount", ["-t", "tmpfs", "-o", "size=16m,mode=755", "none", path])
        guard mkdir(tablespace, 0o700) == 0, chown(tablespace, data.st_uid, data.st_gid) == 0 else {
            throw ClientFailure.system(call: "chown", code: errno)
        }
    }

    var tablespace: String { path + "/tablespace" }

    /// Fills the disk completely.
    func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ClientFailure.system(call: "open", code: errno) }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 65_536)
        var size = zeros.count
        while size > 0 {
            if write(file, zeros, size) > 0 { continue }
            guard errno == ENOSPC else { throw ClientFailure.system(call: "write", code: errno) }
            size /= 2
        }
    }

    func free() {
        unlink(filler)
    }

    /// Unmounts the disk. The server must have closed its files.
    func unmount() {
        try? Self.run("/bin/umount", ["-l", path])
        rmdir(path)
    }

    private static func run(_ executable: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ClientFailure.violation("\(executable) ended with \(process.terminationStatus)")
        }
    }
}
