import Glibc

/// A file that is read as a whole, such as a setting.
enum SmallFile {
    /// The maximum number of bytes: twice the size of tzdata's list of all zones.
    private static let maximumBytes = 256 * 1024

    /// Returns the content, or `nil` if the file is missing, unreadable, larger than the limit, or not a regular file.
    static func read(_ path: String) -> [UInt8]? {
        // Without O_NONBLOCK, opening a FIFO would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var about = stat()
        guard fstat(descriptor, &about) == 0, about.st_mode & S_IFMT == S_IFREG else { return nil }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, content.count + count <= maximumBytes else { return nil }
            guard count > 0 else { return content }
            content.append(contentsOf: part[..<count])
        }
    }
}
