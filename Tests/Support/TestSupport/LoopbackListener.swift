import Foundation
import Glibc

/// A listening TCP socket of a relay, on a free port of 127.0.0.1, with blocking calls on threads of its own.
struct LoopbackListener: Sendable {
    let port: UInt16
    private let descriptor: Int32

    init() throws(ClientFailure) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        let bound = try ClientEndpoint.tcp(host: "127.0.0.1", port: 0).withSocketAddress { address, length in
            bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        guard bound, named else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "bind", code: code)
        }
        port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
    }

    /// Calls `accepted` with each connection, on a thread, until it returns `false` or ``close()`` is called. Then closes
    /// the socket.
    func start(_ accepted: @escaping @Sendable (Int32) -> Bool) {
        Self.thread { [descriptor] in
            while true {
                let client = Glibc.accept(descriptor, nil, nil)
                if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
                guard client >= 0 else { break }
                // A child process started before this call inherits the descriptor. Relays therefore end connections
                // with shutdown, not with close alone.
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                guard accepted(client) else {
                    Glibc.close(client)
                    break
                }
            }
            Glibc.close(descriptor)
        }
    }

    /// Wakes the thread that accepts, which closes the socket.
    func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Returns a descriptor that is connected to `server`, or -1.
    static func connect(to server: ClientEndpoint) -> Int32 {
        let descriptor = socket(server.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return -1 }
        let isConnected = try? server.withSocketAddress { Glibc.connect(descriptor, $0, $1) == 0 }
        guard isConnected == true else {
            Glibc.close(descriptor)
            return -1
        }
        return descriptor
    }

    static func thread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "relay"
        thread.start()
    }
}
