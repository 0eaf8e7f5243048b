import Glibc

/// A file that is small enough to be read as a whole.
package struct WholeFile: Sendable {
    package enum Failure: Error, Hashable {
        /// The error number of the system.
        case unreadable(CInt)
        case notRegular
        case tooLarge(limit: Int)
    }

    package let bytes: [UInt8]
    /// The permissions, with the file's type.
    package let mode: UInt32

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Reads a file. Blocks the thread.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes. A larger file is refused.
    ///   - isRegular: Whether everything except regular files is refused.
    package init(_ path: String, limit: Int, isRegular: Bool = true) throws(Failure) {
        // Without O_NONBLOCK, opening a FIFO would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno) }
        guard !isRegular || status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            guard content.count + count <= limit else { throw .tooLarge(limit: limit) }
            guard count > 0 else { break }
            content.append(contentsOf: part[..<count])
        }
        bytes = content
        mode = status.st_mode
    }
}

extension WholeFile.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let code): String(cString: strerror(code))
        case .notRegular: "it is not a regular file"
        case .tooLarge(let limit): "it is larger than \(limit) bytes"
        }
    }
}
