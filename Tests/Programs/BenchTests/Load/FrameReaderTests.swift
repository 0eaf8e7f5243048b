import Glibc
import Testing
import Wire

@testable import letsswitch_bench

@Suite struct FrameReaderTests {
    private static func frame(_ text: String, _ opcode: WebSocketOpcode = .text) -> [UInt8] {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(opcode, Array(text.utf8), into: &bytes)
        return bytes
    }

    private static let frames = frame("one") + [0x89, 0] + frame(String(repeating: "x", count: 200))

    /// Returns the messages that are read when `begun` came with the head and the rest in these pieces, and the
    /// reader's answer.
    private func read(_ begun: [UInt8], _ pieces: [[UInt8]]) throws -> (messages: [String], answer: [UInt8]) {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        let reader = FrameReader(of: Server(name: "test", pid: getpid(), port: 0), .text)
        var messages: [String] = []
        func keep(_ message: UnsafeRawBufferPointer) { messages.append(String(decoding: message, as: UTF8.self)) }
        reader.begin(pair[1], with: begun)
        try reader.takeBegun(from: pair[1], keep)
        for piece in pieces {
            #expect(write(pair[0], piece, piece.count) == piece.count)
            try reader.receive(from: pair[1], keep)
        }
        // No bytes have arrived.
        try reader.receive(from: pair[1], keep)
        #expect(reader.byteCount == pieces.joined().count)
        var answer = [UInt8](repeating: 0, count: 64)
        let length = recv(pair[0], &answer, answer.count, Int32(MSG_DONTWAIT))
        return (messages, Array(answer.prefix(max(0, length))))
    }

    @Test("Each message is read once, in any parts", arguments: 0...211)
    func cut(at place: Int) throws {
        let (first, second) = (Array(Self.frames.prefix(place)), Array(Self.frames.dropFirst(place)))
        for (begun, pieces) in [(first, [second]), ([], [first, second])] where pieces.allSatisfy({ !$0.isEmpty }) {
            let (messages, answer) = try read(begun, pieces)
            #expect(messages == ["one", String(repeating: "x", count: 200)])
            #expect(answer == LoadFrame.pong)
        }
    }

    @Test("A frame of another type and a closed connection end the benchmark")
    func unexpected() throws {
        #expect(throws: BenchFailure.self) { try read([], [Self.frame("one", .binary)]) }
        #expect(throws: BenchFailure.self) { try read([0x88, 0], []) }
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[1]) }
        close(pair[0])
        let reader = FrameReader(of: Server(name: "test", pid: getpid(), port: 0), .text)
        #expect(throws: BenchFailure.self) { try reader.receive(from: pair[1]) { _ in } }
    }
}
