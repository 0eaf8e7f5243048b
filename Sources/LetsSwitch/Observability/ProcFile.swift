import Glibc

/// Reads the kernel's small text files.
enum ProcFile {
    /// `/proc/stat` has a line for each interrupt and core; what we want of it may come after.
    private static let maxBytes = 262_144

    /// The whole file; `nil` if it can't be read or is larger than 256 KiB.
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 8_192)
        while content.count <= maxBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                guard errno == EINTR else { return nil }
            } else if count == 0 {
                return String(decoding: content, as: UTF8.self)
            } else {
                content.append(contentsOf: chunk[..<count])
            }
        }
        return nil
    }

    /// How many entries a directory has, the one for reading it not counted where it is `/proc/self/fd`.
    static func entries(_ path: String) -> Int? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // ".", ".." and the descriptor that reads.
        return max(0, count - 3)
    }
}
