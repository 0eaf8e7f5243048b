import Glibc

/// Holds a state directory for one daemon with a file lock, which the kernel releases when the process ends in any way.
final class StateDirectoryLock: Sendable {
    private let descriptor: Int32

    /// Throws, naming the holder, if another process has the lock.
    init(_ directory: Directory) throws {
        let path = directory.appending("lock").path
        var descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        if descriptor >= 0 {
            // Root may have created it for the service's user, who must lock it too.
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
        // The number is for people. The lock holds without it, so a full disk is no error.
        let number = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, number, number.count, 0)
    }

    deinit {
        // Closing isn't enough: a child that another thread is starting holds the file until its `exec`.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
