import Glibc

/// A small file with a secret.
package enum SecretFile {

    package enum Failure: Error, Hashable, CustomStringConvertible {
        case unreadable(String)
        case tooLong
        case empty

        package var description: String {
            switch self {
            case .unreadable(let reason): "can't be read: \(reason)"
            case .tooLong: "is too long"
            case .empty: "is empty"
            }
        }
    }

    /// Returns the file's text without surrounding blanks and line breaks. Blocks the thread.
    ///
    /// - Parameter maximumBytes: The maximum size. A larger file is refused.
    package static func read(_ path: String, maximumBytes: Int = 65_536) throws(Failure) -> String {
        // Opens without blocking, because opening a FIFO without a writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(reason) }
        defer { _ = close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
        var count = 0
        while count < bytes.count {
            let taken = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if taken > 0 {
                count += taken
            } else if taken == 0 {
                break
            } else if errno != EINTR {
                throw .unreadable(reason)
            }
        }
        guard count <= maximumBytes else { throw .tooLong }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { throw .empty }
        return String(text[first...last])
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
