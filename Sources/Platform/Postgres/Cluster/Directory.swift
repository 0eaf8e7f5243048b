import Glibc

/// The path of a directory, with the operations that the cluster needs. A daemon that runs as root works in places
/// where other users may write. Therefore no operation follows a symbolic link in the last part of the path.
struct Directory: Sendable, Equatable {
    let path: String

    func appending(_ name: String) -> Directory {
        Directory(path: path == "/" ? "/\(name)" : "\(path)/\(name)")
    }

    var exists: Bool { status != nil }

    /// The owner's id, or `nil` if the directory doesn't exist.
    var owner: UInt32? { status?.st_uid }

    /// The modification time of the directory or file in seconds, or 0 if it doesn't exist.
    var modified: Int { status?.st_mtim.tv_sec ?? 0 }

    /// The path with all links resolved, or `nil` if it doesn't exist.
    var realPath: String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Creates the directory and its missing parents with mode 0755 minus the umask.
    func createWithParents() throws {
        var built = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            built += "/\(component)"
            guard mkdir(built, 0o755) != 0, errno != EEXIST, errno != EISDIR else { continue }
            let code = errno
            // On some file systems `mkdir` fails even though the directory exists, for example if they are read-only.
            // Such a failure is ignored.
            var status = stat()
            guard stat(built, &status) != 0 else { continue }
            throw PrivateClusterError("cannot create the directory", built, errno: code)
        }
        guard let resolved = realPath, opened(resolved) else {
            throw PrivateClusterError("not a directory: \(path)")
        }
    }

    /// Creates the directory with mode 0700 for that user. If it exists, ensures that it has this mode and owner.
    func createPrivate(for user: ClusterUser) throws {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw PrivateClusterError("cannot create", path, errno: errno) }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateClusterError("cannot open the directory", path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw PrivateClusterError("cannot look at", path, errno: errno) }
        if status.st_uid != user.uid {
            // The owner is changed only if the directory belongs to this process's user: it is new or incomplete.
            guard status.st_uid == geteuid() else {
                throw PrivateClusterError("\(path) belongs to another user (uid \(status.st_uid)), not to \(user.name)")
            }
            guard fchown(descriptor, user.uid, user.gid) == 0 else {
                throw PrivateClusterError("cannot give \(user.name) the directory", path, errno: errno)
            }
        }
        guard fchmod(descriptor, 0o700) == 0 else { throw PrivateClusterError("cannot protect", path, errno: errno) }
    }

    /// The sorted names in the directory. Empty if it can't be read.
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
