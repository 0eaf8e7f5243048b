import Glibc
import Wire

/// Reads the received bytes of sockets, with one `recv` each, and splits the bytes into messages. Answers pings.
///
/// The reader is for messages with different contents. ``FrameCounter`` counts equal messages. This type is a class so
/// that its owner can change while it reads.
final class FrameReader {
    private static let bufferSize = 262_144

    private let server: Server
    /// The opcode of the server's messages.
    private let opcode: WebSocketOpcode
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: FrameReader.bufferSize, alignment: 16)
    /// The beginnings of incomplete frames, by socket.
    private var unfinished: [Int32: [UInt8]] = [:]
    /// The number of bytes received.
    private(set) var byteCount = 0

    init(of server: Server, _ opcode: WebSocketOpcode) {
        self.server = server
        self.opcode = opcode
    }

    deinit { buffer.deallocate() }

    /// Sets the first bytes of a socket's frames, which were read earlier.
    func begin(_ socket: Int32, with bytes: [UInt8]) {
        unfinished[socket] = bytes.isEmpty ? nil : bytes
    }

    /// Reads once, and calls `read` for each message. The memory of a message is valid until `read` returns.
    func receive(
        from socket: Int32, _ read: (UnsafeRawBufferPointer) throws(BenchFailure) -> Void
    ) throws(BenchFailure) {
        let count = recv(socket, buffer, Self.bufferSize, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            throw count < 0 ? BenchFailure(call: "recv") : BenchFailure("\(server.name) closed a connection")
        }
        byteCount += count
        try take(UnsafeRawBufferPointer(start: buffer, count: count), from: socket, read)
    }

    /// Calls `read` for the messages in the bytes that ``begin(_:with:)`` set.
    func takeBegun(
        from socket: Int32, _ read: (UnsafeRawBufferPointer) throws(BenchFailure) -> Void
    ) throws(BenchFailure) {
        try take(UnsafeRawBufferPointer(start: nil, count: 0), from: socket, read)
    }

    /// Handles new bytes together with the incomplete frame before them.
    private func take(
        _ bytes: UnsafeRawBufferPointer, from socket: Int32,
        _ read: (UnsafeRawBufferPointer) throws(BenchFailure) -> Void
    ) throws(BenchFailure) {
        guard let begun = unfinished.removeValue(forKey: socket) else { return try split(bytes, from: socket, read) }
        try (begun + bytes).withUnsafeBytes { bytes in
            Result { () throws(BenchFailure) in try split(bytes, from: socket, read) }
        }.get()
    }

    private func split(
        _ bytes: UnsafeRawBufferPointer, from socket: Int32,
        _ read: (UnsafeRawBufferPointer) throws(BenchFailure) -> Void
    ) throws(BenchFailure) {
        var rest = bytes[...]
        while let (opcode, payload) = try LoadFrame.next(&rest) {
            switch opcode {
            case self.opcode: try read(UnsafeRawBufferPointer(rebasing: payload))
            case .ping: try LoadSocket.send(LoadFrame.pong, LoadFrame.pong.count, to: socket)
            default: throw BenchFailure("not expected from the server: a frame of \(opcode)")
            }
        }
        if !rest.isEmpty { unfinished[socket] = Array(rest) }
    }
}
