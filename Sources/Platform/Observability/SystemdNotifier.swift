package import Basics
import Glibc

/// Notifies systemd of the service's state (`Type=notify`). Each notification is a datagram to `$NOTIFY_SOCKET`,
/// sd_notify(3).
///
/// Without the variable, the notifier does nothing. The variable is removed from the environment when the process
/// starts, so that no child process can use it. Any thread may notify. A datagram that the kernel doesn't accept
/// immediately is lost, and nothing depends on it.
package struct SystemdNotifier: Sendable {
    private let path: String?

    /// - Parameter socket: ``Configuration/notifySocket``: a path, or `@name` in the abstract name space. Other values
    ///   are ignored, as in sd_notify.
    package init(socket: String?) {
        path = socket.flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    }

    /// Reports that the daemon is ready: its schema is migrated, and it is listening.
    package func ready(status: String) {
        send("READY=1\nSTATUS=\(Self.oneLine(status))")
    }

    /// Reports that settings are being reloaded. ``ready(status:)`` has to follow.
    ///
    /// - Parameter now: The present time of the monotonic clock. With it, systemd knows that the next readiness belongs
    ///   to this reload.
    package func reloading(at now: MonotonicTime) {
        send("RELOADING=1\nMONOTONIC_USEC=\(now.nanoseconds / 1000)\nSTATUS=reloading")
    }

    /// Reports that draining has begun.
    package func stopping() {
        send("STOPPING=1\nSTATUS=draining")
    }

    /// Reports that the daemon works. If a unit with `WatchdogSec=` doesn't report for that time, systemd restarts it.
    package func alive() {
        send("WATCHDOG=1")
    }

    /// Sets the status line of `systemctl status`.
    package func status(_ text: String) {
        send("STATUS=\(Self.oneLine(text))")
    }

    /// Returns the text on one line, because a second line would count as another assignment.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\n" ? " " : $0 }))
    }

    private func send(_ message: String) {
        guard let path else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        if isAbstract { name[0] = 0 }
        // An abstract name takes the length of the address, and a path ends with NUL (unix(7)).
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard name.count <= (isAbstract ? capacity : capacity - 1) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = MemoryLayout<sockaddr_un>.size - capacity + name.count + (isAbstract ? 0 : 1)

        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(message.utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                while sendto(
                    descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT),
                    pointer, socklen_t(length)) < 0, errno == EINTR
                {}
            }
        }
    }
}
