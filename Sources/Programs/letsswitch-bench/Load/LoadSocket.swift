import CLinux
import Glibc

/// The generator's end of a connection to a server on this machine: a blocking socket whose waits end after ten
/// seconds. It is a plain descriptor, because there are thousands of them and each is used once per message.
enum LoadSocket {
    /// The option IP_BIND_ADDRESS_NO_PORT from <netinet/in.h>. With this option, `connect` chooses the port for the
    /// pair of addresses.
    private static let bindAddressNoPort: Int32 = 24
    /// The number of source addresses, from 127.0.1.1 up. Each address has 28,000 ports of its own. Some ports stay in
    /// use after a connection.
    private static let sources = 32

    /// Opens a connection.
    ///
    /// - Parameter source: Any number. Different numbers use different source addresses.
    static func connect(port: UInt16, source: Int) throws(BenchFailure) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(O_CLOEXEC), 0)
        guard descriptor >= 0 else { throw BenchFailure(call: "socket") }
        do throws(BenchFailure) {
            try set(descriptor, Int32(IPPROTO_IP), bindAddressNoPort, 1 as Int32)
            try set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1 as Int32)
            let limit = timeval(tv_sec: 10, tv_usec: 0)
            try set(descriptor, SOL_SOCKET, SO_RCVTIMEO, limit)
            try set(descriptor, SOL_SOCKET, SO_SNDTIMEO, limit)
            let host = 0x7F00_0101 + UInt32(source % sources)
            guard withAddress(host, 0, { Glibc.bind(descriptor, $0, $1) }) == 0 else {
                throw BenchFailure(call: "bind")
            }
            guard withAddress(0x7F00_0001, port, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
                throw BenchFailure(call: "connect")
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Returns a non-blocking socket that listens on 127.0.0.1 and a free port, for the relay.
    static func listen() throws(BenchFailure) -> (descriptor: Int32, port: UInt16) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(O_NONBLOCK) | Int32(O_CLOEXEC)
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw BenchFailure(call: "socket") }
        // Accepted sockets inherit this option.
        try set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1 as Int32)
        guard withAddress(0x7F00_0001, 0, { Glibc.bind(descriptor, $0, $1) }) == 0 else {
            throw BenchFailure(call: "bind")
        }
        guard Glibc.listen(descriptor, 4096) == 0 else { throw BenchFailure(call: "listen") }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw BenchFailure(call: "getsockname") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Sends all of `bytes`.
    @inline(__always)
    static func send(_ bytes: UnsafeRawPointer, _ count: Int, to descriptor: Int32) throws(BenchFailure) {
        let sent = Glibc.send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        guard sent == count else {
            throw sent < 0 ? BenchFailure(call: "send") : BenchFailure("the server doesn't read")
        }
    }

    /// Waits for the next bytes.
    ///
    /// - Returns: Nothing if the server has closed the connection.
    static func receive(from descriptor: Int32) throws(BenchFailure) -> [UInt8] {
        while true {
            var (count, error) = (0, Int32(0))
            let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, filled in
                count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                error = errno
                filled = max(0, count)
            }
            if count >= 0 { return bytes }
            // A wait with a time limit is interrupted when the process is stopped and continued.
            guard error == EINTR else { throw BenchFailure(call: "recv", error) }
        }
    }

    /// Reads and discards the received bytes of the sockets.
    ///
    /// - Returns: The number of bytes.
    static func drain(_ sockets: [Int32]) -> Int {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var sum = 0
        for socket in sockets {
            while case let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 { sum += count }
        }
        return sum
    }

    private static func withAddress<Result>(
        _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func set<Value: BitwiseCopyable>(
        _ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Value
    ) throws(BenchFailure) {
        var value = value
        guard setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size)) == 0 else {
            throw BenchFailure(call: "setsockopt")
        }
    }
}
