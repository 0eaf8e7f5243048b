import Basics
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
        do throws(WholeFile.Failure) {
            let file = try WholeFile(path, limit: Self.maxBytes)
            self.path = path
            bytes = file.bytes
            isOpenToOthers = file.mode & (S_IROTH | S_IWOTH) != 0
        } catch {
            throw TLSFileError(path: path, reason: "\(error)")
        }
    }
}

/// The error for a certificate or key that can't be used, with the file and the reason.
package struct TLSFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "\(path): \(reason)" }
}
