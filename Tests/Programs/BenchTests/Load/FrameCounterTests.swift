import Glibc
import Testing

@testable import letsswitch_bench

@Suite struct FrameCounterTests {
    /// Runs the body with two connected sockets. The second doesn't block on reads.
    private func withPair(_ body: (_ server: Int32, _ client: Int32) throws -> Void) throws {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        try body(pair[0], pair[1])
    }

    /// Returns the number of counted ale responses when the server's bytes arrive in these pieces, and the counter's
    /// answer.
    private func count(_ pieces: [[UInt8]]) throws -> (ales: Int, answer: [UInt8]) {
        var ales = 0
        var answer = [UInt8](repeating: 0, count: 64)
        try withPair { server, client in
            var counter = FrameCounter()
            for piece in pieces {
                #expect(write(server, piece, piece.count) == piece.count)
                ales += try counter.receive(from: client)
            }
            #expect(try counter.receive(from: client) == 0)
            let length = recv(server, &answer, answer.count, Int32(MSG_DONTWAIT))
            answer = Array(answer.prefix(max(0, length)))
        }
        return (ales, answer)
    }

    private let ale = LoadFrame.aleResponse
    private let ping: [UInt8] = [0x89, 0]

    @Test("A run of frames is counted", arguments: [1, 2, 8, 100])
    func run(frames: Int) throws {
        #expect(try count([Array(repeatElement(ale, count: frames).joined())]).ales == frames)
    }

    @Test("A frame in two parts is counted once", arguments: 1..<24)
    func cut(at place: Int) throws {
        let bytes = ale + ale + ale
        #expect(try count([Array(bytes.prefix(24 + place)), Array(bytes.dropFirst(24 + place))]).ales == 3)
    }

    @Test("A ping between frames isn't counted as an ale")
    func pinged() throws {
        let (ales, answer) = try count([ale + ping + ale, ping])
        #expect(ales == 2)
        #expect(answer == LoadFrame.pong + LoadFrame.pong)
    }

    @Test("Any other message ends the benchmark", arguments: [[0x88, 2, 3, 0xE8], LoadFrame.handshake])
    func unexpected(frame: [UInt8]) {
        #expect(throws: BenchFailure.self) { try count([ale + frame]) }
    }

    @Test("A closed connection ends the benchmark")
    func ended() throws {
        try withPair { server, client in
            #expect(shutdown(server, Int32(SHUT_WR)) == 0)
            var counter = FrameCounter()
            var failure: BenchFailure?
            do throws(BenchFailure) { _ = try counter.receive(from: client) } catch { failure = error }
            #expect(failure != nil)
        }
    }
}
