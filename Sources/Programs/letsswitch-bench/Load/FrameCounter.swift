import Glibc
import Wire

/// Reads the received bytes of a socket in one `recv`, and counts the responses to ales in them.
///
/// The bytes are nearly always a run of the same frame, which one comparison verifies. The frame parser handles other
/// bytes: a frame cut in two, or a ping, which is answered. Anything else ends the benchmark.
struct FrameCounter: ~Copyable {
    private static let bufferSize = 65_520
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: FrameCounter.bufferSize, alignment: 16)
    private let run = LoadFrame.run(copies: FrameCounter.bufferSize / LoadFrame.aleResponseLength)
    /// The beginnings of incomplete frames, by socket.
    private var unfinished: [Int32: [UInt8]] = [:]

    deinit {
        buffer.deallocate()
        run.deallocate()
    }

    /// Reads once and returns the number of responses to ales; 0 if there was nothing to read.
    @inline(__always)
    mutating func receive(from socket: Int32) throws(BenchFailure) -> Int {
        let count = recv(socket, buffer, Self.bufferSize, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return 0 }
            throw count < 0 ? BenchFailure(call: "recv") : BenchFailure("the server closed a connection")
        }
        let frames = count / LoadFrame.aleResponseLength
        if frames * LoadFrame.aleResponseLength == count, unfinished.isEmpty, memcmp(buffer, run, count) == 0 {
            return frames
        }
        return try parse(count, from: socket)
    }

    private mutating func parse(_ count: Int, from socket: Int32) throws(BenchFailure) -> Int {
        var bytes = unfinished.removeValue(forKey: socket) ?? []
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: count))
        var rest = bytes[...]
        var ales = 0
        while let header = try Self.header(rest), rest.count >= header.count + header.payloadBytes {
            let frame = rest.prefix(header.count + header.payloadBytes)
            rest = rest.dropFirst(frame.count)
            switch header.opcode {
            case .binary where frame.elementsEqual(LoadFrame.aleResponse):
                ales += 1
            case .ping where header.payloadBytes == 0:
                try LoadSocket.send(LoadFrame.pong, LoadFrame.pong.count, to: socket)
            default:
                let payload = frame.dropFirst(header.count)
                throw BenchFailure("not expected from the server: \(String(decoding: payload, as: UTF8.self))")
            }
        }
        if !rest.isEmpty { unfinished[socket] = Array(rest) }
        return ales
    }

    private static func header(_ bytes: ArraySlice<UInt8>) throws(BenchFailure) -> WebSocketFrameHeader? {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(WebSocketError) in try WebSocketFrameHeader(bytes, rules: LoadFrame.rules) }
        }.mapError { BenchFailure($0.reason) }.get()
    }
}
