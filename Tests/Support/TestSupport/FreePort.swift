import Basics
import Foundation
import Glibc

/// A TCP port on 127.0.0.1 for a server that can't choose one by itself, or that stops and starts again on the same port.
///
/// The kernel gives the ports of its own range to outgoing connections and to servers that ask for port 0. This type takes ports below that
/// range, each once in a process. A port is therefore still free when its server starts again.
package enum FreePort {
    /// Below it are the ports of well-known services.
    private static let lowest = 15_000
    /// The first port of the kernel's range, which `/proc` tells.
    private static let end: Int = {
        let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = range?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
        return max(lowest + 1_000, min(first ?? 32_768, 65_536))
    }()
    /// Starts at a random port, because other test processes take ports at the same time.
    private static let next = Locked(Int.random(in: lowest..<end))

    package static func find() throws -> UInt16 {
        for _ in lowest..<end {
            let port = next.withLock { next in
                next = next + 1 < end ? next + 1 : lowest
                return next
            }
            if try isFree(UInt16(port)) { return UInt16(port) }
        }
        throw ClientFailure.misuse("No port from \(lowest) to \(end - 1) is free.")
    }

    private static func isFree(_ port: UInt16) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ClientFailure.system(call: "socket", code: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
