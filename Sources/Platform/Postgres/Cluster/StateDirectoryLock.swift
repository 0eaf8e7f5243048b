import Glibc

/// A file lock that reserves a state directory for one daemon. The kernel releases the lock whenever the process ends.
final class StateDirectoryLock: Sendable {
    private let descriptor: Int32

    /// Throws if another process has the lock. The error names that process.
    init(_ directory: Directory) throws {
        let path = directory.appending("lock").path
        var descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        if descriptor >= 0 {
            // Root may have created the file. The service's user has to be able to lock the file too, so it becomes the
            // owner.
            if geteuid() == 0, let owner = Directory(path: directory.realPath ?? directory.path).owner {
                _ = fchown(descriptor, owner, gid_t.max)
            }
        } else {
            descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644)
        }
        guard descriptor >= 0 else { throw PrivateClusterError("cannot open", path, errno: errno) }
        var outcome: Int32
        repeat { outcome = flock(descriptor, LOCK_EX | LOCK_NB) } while outcome != 0 && errno == EINTR
        guard outcome == 0 else {
            let code = errno
            let holder = SmallFile.tail(descriptor).filter(\.isNumber)
            close(descriptor)
            guard code == EWOULDBLOCK else { throw PrivateClusterError("cannot lock", path, errno: code) }
            throw PrivateClusterError(
                "the state directory \(directory.path) is in use by process \(holder.isEmpty ? "?" : holder)")
        }
        self.descriptor = descriptor
        // The process id in the file is only for people. The lock works without it, so a full disk is no error.
        let number = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, number, number.count, 0)
    }

    deinit {
        // Closing the descriptor isn't enough: a child that another thread is starting keeps the file open until its
        // `exec`.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
