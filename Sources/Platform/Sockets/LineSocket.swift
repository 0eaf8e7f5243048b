import CLinux
import Glibc

/// A blocking connection to a Unix socket, for a command: it writes and reads lines. Each step has a time limit.
package final class LineSocket {
    private let descriptor: CInt
    private var received: [UInt8] = []
    private var searched = 0

    /// - Parameter patience: The time limit for each read and write.
    package init(path: String, patience: Duration) throws(SocketError) {
        let address = try SocketAddress(path: path)
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | UInt32(SOCK_CLOEXEC.rawValue)), 0)
        guard descriptor >= 0 else { throw SocketError("socket", on: path) }
        self.descriptor = descriptor
        var time = timeval(tv_sec: Int(patience.components.seconds), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else {
            throw SocketError("connect", on: path)
        }
    }

    deinit {
        close(descriptor)
    }

    package func write(_ line: [UInt8]) throws(SocketError) {
        var rest = (line + [UInt8(ascii: "\n")])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SocketError("send")
            }
        }
    }

    /// Returns the next line without its line end, or `nil` at the end of the stream.
    package func next() throws(SocketError) -> [UInt8]? {
        while true {
            if let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(received[..<end])
                received.removeFirst(end + 1)
                searched = 0
                return line
            }
            searched = received.count
            guard try receive() else { return nil }
        }
    }

    /// - Returns: `false` at the end of the stream.
    private func receive() throws(SocketError) -> Bool {
        var count: Int
        repeat {
            count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
                let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                if count > 0 { received.append(contentsOf: buffer[..<count]) }
                return count
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw SocketError("recv") }
        return count > 0
    }
}
