import Glibc

/// A file that gets its name only when it is complete. Before that, its name in the same directory is
/// `NAME.unfinished-…`. Only its owner can read it.
enum UnfinishedFile {
    private static let mark = ".unfinished-"
    /// `mkstemp` replaces this part of the name.
    private static let placeholder = "XXXXXX"

    /// Writes a file. Removes unfinished files of killed writers first.
    ///
    /// - Parameter body: Writes to the descriptor. If it throws, the unfinished file is removed, and an existing file
    ///   remains.
    /// - Returns: The file's size in bytes.
    static func write(_ path: String, _ body: (Int32) throws -> Void) throws -> Int {
        let target = try destination(path)
        clearLeftovers(of: target)
        var template = Array("\(target)\(mark)\(placeholder)".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw PrivateClusterError("cannot write", path, errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        defer { close(descriptor) }
        // The file stays locked until the writer, or the tool that it started, has ended.
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

    /// Removes unfinished files that have no writer any more.
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

    /// Returns the file that a link refers to, so that writing doesn't replace the link itself. Throws if the file
    /// isn't a regular file, such as `/dev/stdout`.
    private static func destination(_ path: String) throws -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFREG else { throw PrivateClusterError("\(path) is not a regular file") }
        return Directory(path: path).realPath ?? path
    }

    /// Makes the file's name survive a crash of the machine, if the file system supports that. The content is already
    /// on the disk.
    private static func syncDirectory(of path: String) {
        let descriptor = open(split(path).parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }
}
