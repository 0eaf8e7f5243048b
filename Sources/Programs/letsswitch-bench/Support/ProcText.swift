import Glibc

/// Reads small text files of the kernel, and the servers' output.
enum ProcText {
    private static let maxBytes = 4 << 20

    /// Returns the whole file; `nil` if the file can't be read or is larger than 4 MiB.
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
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
}
