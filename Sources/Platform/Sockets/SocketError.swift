import Glibc

/// A system call that failed: which, on what, and with which `errno`.
package struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system call's name, such as `bind`.
    package let call: String
    /// What it was called on, where that helps: an address or a path.
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
