import Glibc

/// A failed system call, with its subject and `errno`.
package struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the system call, such as `bind`.
    package let call: String
    /// The address or path in the call, or `nil` if it wouldn't help.
    package let subject: String?
    /// The value of `errno`.
    package let errno: CInt

    package init(_ call: String, on subject: String? = nil, errno: CInt = Glibc.errno) {
        self.call = call
        self.subject = subject
        self.errno = errno
    }

    package var description: String {
        let reason = String(cString: strerror(errno))
        return subject.map { "\(call) \($0): \(reason)" } ?? "\(call): \(reason)"
    }
}
