import Glibc

/// The reason why a private cluster isn't available, for the person who starts the daemon.
package struct PrivateClusterError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String

    package var description: String { message }

    init(_ message: String) {
        self.message = message
    }

    /// Creates the error of a failed system call, with its reason.
    init(_ call: String, _ path: String, errno code: Int32) {
        self.message = "\(call) \(path): \(systemMessage(code))"
    }
}

/// Returns the C library's message for an `errno`.
func systemMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else { return "error \(code)" }
        return String(cString: base)
    }
}
