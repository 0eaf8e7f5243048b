import CLinux
import Foundation
import Glibc
import TestSupport

/// A server that handles each connection with the test's script. It uses blocking calls on its own thread, to be as
/// different as possible from the tested clients.
final class ScriptedServer: Sendable {
    let endpoint: ClientEndpoint
    private let listener: Int32

    /// `script` runs for each connection; the connection is closed after it.
    init(
        at wanted: ClientEndpoint = .tcp(host: "127.0.0.1", port: 0), script: @escaping @Sendable (ScriptedPeer) -> Void
    )
        throws
    {
        var family = AF_INET
        if case .tcp(let host, _) = wanted, host.contains(":") { family = AF_INET6 }
        if case .unix = wanted { family = AF_UNIX }
        let listener = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let bound = try wanted.withSocketAddress { bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 1024) == 0 else {
            throw ClientFailure.system(call: "bind", code: errno)
        }
        self.listener = listener
        endpoint = Self.resolve(wanted, listener)
        Thread.detachNewThread {
            while true {
                // The descriptor isn't inherited by a process that another test starts at this moment, which would keep
                // the connection open.
                let descriptor = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                if descriptor < 0 { break }
                Thread.detachNewThread {
                    let peer = ScriptedPeer(descriptor)
                    script(peer)
                    peer.close()
                }
            }
            _ = Glibc.close(listener)
        }
    }

    /// Wakes the accepting thread, which closes the listener.
    deinit { _ = shutdown(listener, Int32(SHUT_RDWR)) }

    private static func resolve(_ wanted: ClientEndpoint, _ listener: Int32) -> ClientEndpoint {
        guard case .tcp(let host, _) = wanted else { return wanted }
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
        }
        // The port is at the same place in IPv4 and IPv6 addresses.
        return .tcp(host: host, port: UInt16(bigEndian: address.sin6_port))
    }
}

/// The server's end of a connection. Used by its one thread.
final class ScriptedPeer {
    private let descriptor: Int32
    private var isClosed = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if sent <= 0 { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Reads up to `count` bytes; fewer at the end of the stream.
    func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var byte: UInt8 = 0
            if recv(descriptor, &byte, 1, 0) != 1 { break }
            bytes.append(byte)
        }
        return bytes
    }

    /// Reads a request's head as text.
    @discardableResult
    func readHead() -> String {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            let next = read(1)
            if next.isEmpty { break }
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a client's frame of less than 126 bytes, and unmasks it.
    func readFrame() -> TestFrame {
        let head = read(6)
        guard head.count == 6 else { return TestFrame(.init(15)) }
        let payload = read(Int(head[1] & 0x7F)).enumerated().map { $0.element ^ head[2 + $0.offset % 4] }
        return TestFrame(.init(head[0] & 15), payload, isFinal: head[0] & 0x80 != 0, reserved: head[0] >> 4 & 7)
    }

    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        _ = Glibc.close(descriptor)
    }
}
