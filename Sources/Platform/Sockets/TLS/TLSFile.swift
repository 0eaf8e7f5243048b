import Glibc

/// A small file that is read as a whole.
struct TLSFile {
    /// The maximum size in bytes. No chain of certificates needs that many bytes. The limit also bounds the size of a
    /// handshake.
    static let maxBytes = 64 * 1024

    let path: String
    let bytes: [UInt8]
    /// Whether users other than the file's owner and group may read or write it.
    let isOpenToOthers: Bool

    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(_ path: String) throws(TLSFileError) {
        // The file is opened non-blocking, because opening a FIFO without a writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw TLSFileError(path: path, reason: Self.reason(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw TLSFileError(path: path, reason: Self.reason(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TLSFileError(path: path, reason: "it is not a regular file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 {
                guard errno == EINTR else { throw TLSFileError(path: path, reason: Self.reason(errno)) }
                continue
            }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= Self.maxBytes else {
                throw TLSFileError(path: path, reason: "it is larger than \(Self.maxBytes) bytes")
            }
        }
        self.path = path
        self.bytes = bytes
        isOpenToOthers = status.st_mode & (S_IROTH | S_IWOTH) != 0
    }

    private static func reason(_ code: CInt) -> String { String(cString: strerror(code)) }
}

/// The error for a certificate or key that can't be used, with the file and the reason.
package struct TLSFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "\(path): \(reason)" }
}
