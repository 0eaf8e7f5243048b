import Dispatch
import Glibc
import TestSupport

@testable import LetsSwitchClient

/// A listening socket whose every step the test performs.
final class RawServer: Sendable {
    let port: UInt16
    let descriptor: CInt

    init(backlog: CInt = 64) throws {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // A limit for the wait for a client.
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let descriptor = descriptor
        let listens = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, backlog) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard listens else { throw ClientFailure.system(call: "listen", code: errno) }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }

    /// Returns `Sec-WebSocket-Key` of a request.
    static func key(in request: String) -> String? {
        let name = "sec-websocket-key: "
        let line = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name) }
        return line.map { String($0.dropFirst(name.count)) }
    }

    var address: ServerAddress {
        get throws { try ServerAddress("127.0.0.1:\(port)") }
    }

    func accept() async throws -> RawConnection {
        let client = await withCheckedContinuation { (continuation: CheckedContinuation<CInt, Never>) in
            DispatchQueue.global().async { [descriptor] in
                let client = Glibc.accept(descriptor, nil, nil)
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                _ = fcntl(client, F_SETFL, O_NONBLOCK)
                continuation.resume(returning: client)
            }
        }
        guard client >= 0 else { throw ClientFailure.system(call: "accept", code: errno) }
        return try RawConnection(adopting: client, named: "a client")
    }
}
