import CLinux
import Glibc

/// The path of a Unix socket that is too long for `sun_path`, and a short path to the same socket. The short path leads
/// through an open directory and is valid in this process as long as this object exists.
final class LongSocketPath: Sendable {
    let path: String
    /// The short path, such as `/proc/self/fd/7/control.sock`. See proc_pid_fd(5).
    let short: String
    private let directory: CInt

    /// - Throws: The kernel's error if the directory can't be opened.
    init(_ path: String) throws(SocketError) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else {
            throw SocketError("bind", on: path, errno: ENAMETOOLONG)
        }
        directory = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw SocketError("open", on: path) }
        self.path = path
        short = "/proc/self/fd/\(directory)\(path[slash...])"
    }

    deinit {
        close(directory)
    }
}
