import Glibc

/// A file that stands under its name only once it is complete. Until then it is beside it, `NAME.unfinished-…`, and always its owner's
/// alone.
enum UnfinishedFile {
    /// - Parameter body: Writes it, into a descriptor. When it throws, nothing is left, and what had that name before still has it.
    /// - Returns: The file's size in bytes.
    static func write(_ path: String, _ body: (Int32) throws -> Void) throws -> Int {
        let target = try destination(path)
        var template = Array("\(target).unfinished-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw PrivateClusterError("cannot write", path, errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        defer { close(descriptor) }
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

    /// Where a link leads, so that it stays one. What is no ordinary file is never replaced: `/dev/stdout` isn't.
    private static func destination(_ path: String) throws -> String {
        var status = stat()
        guard stat(path, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFREG else { throw PrivateClusterError("\(path) is no ordinary file") }
        return Directory(path: path).realPath ?? path
    }

    /// The file is complete in any case; without this a crash of the machine could cost its name. Some file systems can't.
    private static func syncDirectory(of path: String) {
        let end = path.lastIndex(of: "/")
        let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }
}
