import Glibc
import TestSupport
import Testing

@testable import Sockets

/// Both ends of a TLS connection, in memory.
@Suite struct TLSSessionTests {
    /// A server's session with its loop's buffers, and a client's session.
    private final class Pair {
        let traffic = TLSTraffic(receiveBufferSize: Reactor.receiveBufferSize)
        let session: TLSSession
        let client: TLSTestSession
        var received: [UInt8] = []
        var last = TLSSession.Input(plaintext: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        /// The number of times that the handshake was reported as complete.
        var completions = 0

        init(_ identity: TestAuthority.Identity, version: Int32 = 0x0304) throws {
            let context = try TLSContext(certificateFile: identity.certificate, keyFile: identity.key)
            session = try #require(TLSSession(context))
            client = try TLSTestSession(version: version)
        }

        /// Passes bytes to the session, `size` at a time.
        func open(_ bytes: [UInt8], inPiecesOf size: Int) {
            var rest = bytes[...]
            while !rest.isEmpty, last.failure == nil {
                last = Array(rest.prefix(size)).withUnsafeBytes { session.open($0, with: traffic) }
                received += last.plaintext
                if last.isNewlySecure { completions += 1 }
                rest = rest.dropFirst(size)
            }
        }

        /// Passes the session's output to the client, in pieces of `size` bytes, which the kernel might take.
        func deliver(_ queue: inout SendQueue, isLast: Bool = false, taking size: Int = .max) throws -> [UInt8] {
            let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 8)
            defer { vectors.deallocate() }
            var read: [UInt8] = []
            repeat {
                try #require(session.seal(&queue, isLast: isLast, with: traffic, vectors))
                let output = traffic.output
                let all = session.unsent + Array(output)
                let taken = min(size, all.count)
                client.receive(all[..<taken])
                session.sent(taken, of: output)
                #expect(session.unsent.count == all.count - taken)
                if session.isSecure { read += try client.read() }
            } while !queue.isEmpty || !session.unsent.isEmpty
            return read
        }

        func shakeHands(inPiecesOf size: Int) throws {
            var queue = SendQueue()
            for _ in 0..<10 {
                let isDone = try client.shakeHands()
                open(client.takeOutput(), inPiecesOf: size)
                if isDone, session.isSecure { break }
                if last.failure != nil { break }
                // The client reads only after its handshake is complete too.
                _ = try deliver(&queue)
            }
        }
    }

    @Test(
        "A handshake doesn't depend on how the bytes are split",
        arguments: [0x0303 as Int32, 0x0304], [1, 3, 100, 1 << 20])
    func splits(version: Int32, size: Int) async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue(), version: version)
        try pair.shakeHands(inPiecesOf: size)
        #expect(pair.session.isSecure)
        #expect(pair.completions == 1)
        let message = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try pair.client.write(message)
        pair.open(pair.client.takeOutput(), inPiecesOf: size)
        #expect(pair.received == message)
        pair.client.close()
        #expect(!pair.last.hasEnded)
        pair.open(pair.client.takeOutput(), inPiecesOf: size)
        #expect(pair.last.hasEnded)
    }

    @Test(
        "The pieces of a turn become few records",
        arguments: [1_000, .max])
    func seal(size: Int) async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        try pair.shakeHands(inPiecesOf: .max)
        var queue = SendQueue()
        _ = try pair.deliver(&queue)
        let frame = SharedBytes([1, 2, 3], copies: 4)
        var expected: [UInt8] = []
        for index in 0..<500 {
            queue.append(frame)
            queue.append(SharedBytes([UInt8(truncatingIfNeeded: index)]))
            expected += [1, 2, 3, UInt8(truncatingIfNeeded: index)]
        }
        let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        queue.append(SharedBytes(large))
        #expect(try pair.deliver(&queue, taking: size) == expected + large)
    }

    @Test("A thousand small pieces become one record")
    func oneRecord() async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        try pair.shakeHands(inPiecesOf: .max)
        var queue = SendQueue()
        _ = try pair.deliver(&queue)
        let frame = SharedBytes([UInt8](repeating: 9, count: 10), copies: 16)
        for _ in 0..<1_000 { queue.append(frame) }
        let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 64)
        defer { vectors.deallocate() }
        #expect(pair.session.seal(&queue, isLast: false, with: pair.traffic, vectors))
        #expect(queue.isEmpty)
        // A header of 5 bytes, the content type, and a tag of 16 bytes (RFC 8446 §5.2).
        #expect(pair.traffic.output.count == 10_000 + 22)
    }

    @Test("Unsent and sealed bytes for a peer that doesn't read are bounded")
    func bounded() async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        try pair.shakeHands(inPiecesOf: .max)
        var queue = SendQueue()
        _ = try pair.deliver(&queue)
        queue.append(SharedBytes([UInt8](repeating: 0, count: 1 << 20)))
        let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 8)
        defer { vectors.deallocate() }
        for _ in 0..<50 {
            #expect(pair.session.seal(&queue, isLast: false, with: pair.traffic, vectors))
            pair.session.sent(0, of: pair.traffic.output)
        }
        #expect(pair.session.unsent.count < 64 * 1024)
        #expect(queue.byteCount >= (1 << 20) - 48 * 1024)
    }

    @Test("An orderly end sends one close_notify after everything else", arguments: [0x0303 as Int32, 0x0304])
    func goodbye(version: Int32) async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue(), version: version)
        #expect(!pair.session.owesCloseNotify)
        try pair.shakeHands(inPiecesOf: .max)
        #expect(pair.session.owesCloseNotify)
        var queue = SendQueue()
        queue.append(SharedBytes("last words".utf8))
        #expect(try pair.deliver(&queue, isLast: true) == Array("last words".utf8))
        #expect(pair.client.hasEnded)
        #expect(!pair.session.owesCloseNotify)
        let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 8)
        defer { vectors.deallocate() }
        #expect(pair.session.seal(&queue, isLast: true, with: pair.traffic, vectors))
        #expect(pair.traffic.output.isEmpty)
    }

    @Test("A manipulated record fails with an alert")
    func tampered() async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        try pair.shakeHands(inPiecesOf: .max)
        var queue = SendQueue()
        _ = try pair.deliver(&queue)
        try pair.client.write(Array("hello".utf8))
        var record = pair.client.takeOutput()
        record[record.count - 1] ^= 1
        pair.open(record, inPiecesOf: .max)
        #expect(pair.last.failure?.cause == .protocolError)
        #expect(pair.last.failure?.reason.isEmpty == false)
        #expect(pair.received.isEmpty)
        #expect(!pair.session.unsent.isEmpty)
        // The error doesn't affect the next session on the same thread.
        let next = try Pair(try await authority.issue())
        try next.shakeHands(inPiecesOf: 10)
        #expect(next.session.isSecure)
    }

    @Test("A key update that the peer requests works")
    func keyUpdate() async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        try pair.shakeHands(inPiecesOf: .max)
        var queue = SendQueue()
        for round in 0..<20 {
            try pair.client.updateKeys()
            try pair.client.write([UInt8(round)])
            pair.open(pair.client.takeOutput(), inPiecesOf: 5)
            queue.append(SharedBytes([UInt8(round)]))
            #expect(try pair.deliver(&queue) == [UInt8(round)])
        }
        #expect(pair.received == Array(0..<20))
        #expect(pair.last.failure == nil)
    }

    @Test("Repeated key updates disconnect the peer")
    func keyUpdates() async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        try pair.shakeHands(inPiecesOf: .max)
        func update(_ count: Int, then word: String) throws {
            for _ in 0..<count { try pair.client.updateKeys() }
            try pair.client.write(Array(word.utf8))
            pair.received = []
            pair.open(pair.client.takeOutput(), inPiecesOf: .max)
        }
        try update(32, then: "a")
        #expect(pair.received == Array("a".utf8))
        #expect(pair.last.failure == nil)
        try pair.client.write([UInt8](repeating: 0, count: 2 << 20))
        pair.open(pair.client.takeOutput(), inPiecesOf: Reactor.receiveBufferSize)
        try update(2, then: "b")
        #expect(pair.received == Array("b".utf8))
        #expect(pair.last.failure == nil)
        try update(1, then: "c")
        #expect(pair.received == [])
        #expect(pair.last.failure?.cause == .protocolError)
    }

    @Test("An old version is refused with an alert", arguments: [0x0301 as Int32, 0x0302])
    func old(version: Int32) async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        // A ClientHello that offers nothing newer.
        let hello = Self.clientHello(version: version)
        pair.open(hello, inPiecesOf: 4)
        #expect(pair.last.failure?.cause == .protocolError)
        // Alert, fatal, protocol_version (RFC 5246 §7.2).
        #expect(pair.session.unsent.first == 21 && Array(pair.session.unsent.suffix(2)) == [2, 70])
    }

    private static func clientHello(version: Int32) -> [UInt8] {
        let body: [UInt8] =
            [3, UInt8(version & 0xFF)] + [UInt8](repeating: 7, count: 32) + [0, 0, 2, 0xC0, 0x13, 1, 0]
        let message: [UInt8] = [1, 0, 0, UInt8(body.count)] + body
        return [0x16, 3, 1, 0, UInt8(message.count)] + message
    }

    @Test("An endless handshake is ended")
    func endless() async throws {
        let authority = try await TestAuthority()
        let pair = try Pair(try await authority.issue())
        // A ClientHello of 16 KB. After its header, each record has one byte.
        var bytes: [UInt8] = [0x16, 3, 1, 0, 4, 1, 0, 0x3F, 0xFF]
        while bytes.count < 100_000 { bytes += [0x16, 3, 1, 0, 1, 0] }
        pair.open(bytes, inPiecesOf: 1_000)
        #expect(pair.last.failure != nil)
    }
}
