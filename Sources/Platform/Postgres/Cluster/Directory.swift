import Glibc

/// A directory's path, and what the cluster needs to do with directories. Every call follows the rule for a root daemon
/// that works in places where others may write: a last component that is a symbolic link is not followed.
struct Directory: Sendable, Equatable {
    let path: String

    func appending(_ name: String) -> Directory {
        Directory(path: path == "/" ? "/\(name)" : "\(path)/\(name)")
    }

    var exists: Bool { status != nil }

    /// The owner, if it is there.
    var owner: UInt32? { status?.st_uid }

    /// When it, or the file of that path, was last changed, in seconds; 0 when it isn't there.
    var modified: Int { status?.st_mtim.tv_sec ?? 0 }

    /// With every link resolved; nil when it isn't there.
    var realPath: String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Creates it and its parents, 0755 less the umask, where missing.
    func createWithParents() throws {
        var built = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            built += "/\(component)"
            guard mkdir(built, 0o755) != 0, errno != EEXIST, errno != EISDIR else { continue }
            let code = errno
            // A file system that refuses before it looks (read-only, unreadable parent) is fine if it is there.
            var status = stat()
            guard stat(built, &status) != 0 else { continue }
            throw PrivateClusterError("cannot create the directory", built, errno: code)
        }
        guard let resolved = realPath, opened(resolved) else {
            throw PrivateClusterError("not a directory: \(path)")
        }
    }

    /// Creates it with mode 0700 for that user alone, or makes sure that it is so.
    func createPrivate(for user: ClusterUser) throws {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw PrivateClusterError("cannot create", path, errno: errno) }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateClusterError("cannot open the directory", path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PrivateClusterError("cannot look at", path, errno: errno) }
        if status.st_uid != user.uid {
            // Ours, just made or left half-way, may be given away; somebody else's may not be taken.
            guard status.st_uid == geteuid() else {
                throw PrivateClusterError("\(path) belongs to another user (uid \(status.st_uid)), not to \(user.name)")
            }
            guard fchown(descriptor, user.uid, user.gid) == 0 else {
                throw PrivateClusterError("cannot give \(user.name) the directory", path, errno: errno)
            }
        }
        guard fchmod(descriptor, 0o700) == 0 else { throw PrivateClusterError("cannot protect", path, errno: errno) }
    }

    /// The names in it, sorted; empty when it can't be read.
    var entries: [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private var status: stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    private func opened(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
