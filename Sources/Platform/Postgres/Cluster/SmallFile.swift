import Glibc

/// Reads and writes files of a few kilobytes, and reads the ends of long ones.
enum SmallFile {
    /// Returns the last `limit` bytes as text, or `nil` if the file can't be read.
    static func tail(_ path: String, limit: Int = 8_192) -> String? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return tail(descriptor, limit: limit)
    }

    static func tail(_ descriptor: Int32, limit: Int = 8_192) -> String {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        // Files in /proc have the size 0, so they are read from the start.
        let start = max(0, size - limit)
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress?.advanced(by: count), limit - count, off_t(start + count))
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { break }
            count += got
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
