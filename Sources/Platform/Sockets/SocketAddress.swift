import CLinux
import Glibc

/// The address of a socket: an IPv4 or IPv6 address with a port, or a path.
package struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage = sockaddr_storage()
    private var length: socklen_t
    /// The short form of a Unix socket's path that is too long for `sun_path`.
    private var longPath: LongSocketPath?

    /// Creates the address of a Unix socket. The path may be longer than `sun_path`, which has room for 107 bytes.
    ///
    /// - Throws: `ENAMETOOLONG` if the last component of a path is too long. Throws the kernel's error if the directory
    ///   of a long path can't be opened.
    package init(path: String) throws(SocketError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        if bytes.count >= capacity {
            let longPath = try LongSocketPath(path)
            bytes = Array(longPath.short.utf8)
            self.longPath = longPath
        }
        guard bytes.count < capacity, !bytes.isEmpty else {
            throw SocketError("bind", on: path, errno: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        length = socklen_t(MemoryLayout<sockaddr_un>.size)
        withUnsafeMutableBytes(of: &storage) { memory in
            withUnsafeBytes(of: &address) { memory.copyMemory(from: $0) }
        }
    }

    private init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.length = length
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: min(Int(length), $0.count)))
        }
    }

    /// Returns the addresses of a host. An IP address gives one, and a name may give several. Looking up a name blocks.
    ///
    /// - Throws: An error with a sentence for people, if the name is unknown.
    package static func resolve(host: String, port: UInt16) throws(ResolveError) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { throw ResolveError(host: host, reason: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                addresses.append(SocketAddress(address, length: entry.pointee.ai_addrlen))
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    /// Returns the address that a socket is bound to, with the port that the kernel chose.
    static func bound(to descriptor: CInt) throws(SocketError) -> SocketAddress {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw SocketError("getsockname") }
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress($0, length: length) }
        }
    }

    var family: CInt { CInt(storage.ss_family) }

    /// The port, or `nil` for a Unix socket.
    package var port: UInt16? {
        family == AF_UNIX ? nil : UInt16(numericParts?.port ?? "")
    }

    /// The path of a Unix socket, or `nil` for other sockets and for a peer without a name.
    package var path: String? {
        guard family == AF_UNIX else { return nil }
        if let longPath { return longPath.path }
        return withUnsafeBytes(of: storage) { memory in
            let bytes = memory[MemoryLayout<sa_family_t>.size..<min(Int(length), memory.count)].prefix { $0 != 0 }
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Calls `body` with the address in the form that system calls take.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The address as text, such as `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/server.sock`.
    package var description: String {
        if family == AF_UNIX { return "unix:\(path ?? "")" }
        guard let (host, port) = numericParts else { return "unknown" }
        return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private var numericParts: (host: String, port: String)? {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
        let code = withPointer {
            getnameinfo(
                $0, $1, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard code == 0 else { return nil }
        return (host.withUnsafeBufferPointer(Self.text), port.withUnsafeBufferPointer(Self.text))
    }
}

extension SocketAddress {
    /// Returns the text before the terminating zero.
    private static func text(_ characters: UnsafeBufferPointer<CChar>) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The error for a host name without an address.
package struct ResolveError: Error, Sendable, CustomStringConvertible {
    package let host: String
    package let reason: String

    package var description: String { "\(host): \(reason)" }
}
