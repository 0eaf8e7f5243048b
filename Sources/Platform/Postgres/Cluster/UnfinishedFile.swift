import Glibc

/// A file that stands under its name only once it is complete. Until then it is beside it, `NAME.unfinished-…`, and always its owner's
/// alone.
enum UnfinishedFile {
    private static let mark = ".unfinished-"
    /// What `mkstemp` makes a name of.
    private static let placeholder = "XXXXXX"

    /// - Parameter body: Writes it, into a descriptor. When it throws, nothing is left, and what had that name before still has it.
    /// - Returns: The file's size in bytes.
    ///
    /// Of writers that were killed the rest goes first.
    static func write(_ path: String, _ body: (Int32) throws -> Void) throws -> Int {
        let target = try destination(path)
        clearLeftovers(of: target)
        var template = Array("\(target)\(mark)\(placeholder)".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw PrivateClusterError("cannot write", path, errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        defer { close(descriptor) }
        // As long as whoever writes it lives, and what writes for it.
        flock(descriptor, LOCK_EX | LOCK_NB)
        do {
            try body(descriptor)
            guard fsync(descriptor) == 0 else { throw PrivateClusterError("cannot sync", path, errno: errno) }
            guard rename(template, target) == 0 else { throw PrivateClusterError("cannot write", path, errno: errno) }
        } catch {
            unlink(template)
            throw error
        }
        syncDirectory(of: target)
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Removes what nobody writes any more.
    private static func clearLeftovers(of target: String) {
        let (parent, name) = split(target)
        let prefix = "\(name)\(mark)"
        for entry in Directory(path: parent).entries
        where entry.hasPrefix(prefix) && entry.utf8.count == prefix.utf8.count + placeholder.utf8.count {
            let path = Directory(path: parent).appending(entry).path
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
            close(descriptor)
        }
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// Where a link leads, so that it stays one. What is no ordinary file is never replaced: `/dev/stdout` isn't.
    private static func destination(_ path: String) throws -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFREG else { throw PrivateClusterError("\(path) is no ordinary file") }
        return Directory(path: path).realPath ?? path
    }

    /// The file is complete in any case; without this a crash of the machine could cost its name. Some file systems can't.
    private static func syncDirectory(of path: String) {
        let descriptor = open(split(path).parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }
}
