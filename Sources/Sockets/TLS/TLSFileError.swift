/// A certificate or key that can't be used: which file, and what is wrong with it.
package struct TLSFileError: Error, Sendable, Equatable, CustomStringConvertible {
    package let path: String
    package let reason: String

    package var description: String { "\(path): \(reason)" }
}
