import Glibc
import TestSupport

/// A port that doesn't answer: it has one connection that is never accepted, and room for no other.
final class SilentServer: Sendable {
    private let server: RawServer
    private let first: CInt

    var port: UInt16 { server.port }

    init() throws {
        server = try RawServer(backlog: 0)
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | UInt32(SOCK_NONBLOCK.rawValue)
        first = socket(AF_INET, CInt(type), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = server.port.bigEndian
        let first = first
        let connects = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(first, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 || errno == EINPROGRESS
            }
        }
        // The kernel counts the connection when it can be accepted. If a client of an earlier server on this port takes the
        // place, its connection serves as well.
        var entry = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
        guard connects, poll(&entry, 1, 20_000) == 1 else {
            throw ClientFailure.system(call: "connect", code: errno)
        }
    }

    deinit { close(first) }
}
