/// Why a private cluster can't be had, in words for the person who starts the daemon.
package struct PrivateClusterError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String

    package var description: String { message }

    init(_ message: String) {
        self.message = message
    }

    /// A system call that failed, and why.
    init(_ call: String, _ path: String, errno code: Int32) {
        self.message = "\(call) \(path): \(systemMessage(code))"
    }
}
