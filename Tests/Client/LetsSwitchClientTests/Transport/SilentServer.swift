import Foundation
import Glibc
import TestSupport

/// A port that doesn't answer: it has one connection that is never accepted, and room for no other.
final class SilentServer: Sendable {
    private let server: RawServer
    private let first: CInt

    var port: UInt16 { server.port }

    init() throws {
        server = try RawServer(backlog: 0)
        first = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = server.port.bigEndian
        let first = first
        let connects = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(first, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        // The kernel counts the connection when it can be accepted.
        var entry = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
        guard connects, poll(&entry, 1, 20_000) == 1 else {
            throw ClientFailure.system(call: "connect", code: errno)
        }
    }

    deinit { close(first) }

    /// Returns the number of sockets that are connecting to the port (proc_net_tcp(5): state 02 is SYN_SENT).
    func attempts() throws -> Int {
        let digits = String(port, radix: 16, uppercase: true)
        let server = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
        let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
        return table.split(separator: "\n").count { line in
            let columns = line.split(separator: " ")
            return columns.count > 3 && columns[2] == server && columns[3] == "02"
        }
    }
}
