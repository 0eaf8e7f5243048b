import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct RawConnectionTests {
    static let endpoints: [ClientEndpoint] = [
        .tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0),
        .unix(path: "/tmp/raw-connection-\(UUID().uuidString)"),
    ]

    @Test(
        "An endpoint has the format of --listen",
        arguments: [
            ("127.0.0.1:8080", ClientEndpoint.tcp(host: "127.0.0.1", port: 8080)),
            ("[::1]:1", .tcp(host: "::1", port: 1)), ("unix:/a/b", .unix(path: "/a/b")),
        ])
    func endpointReads(text: String, endpoint: ClientEndpoint) {
        #expect(ClientEndpoint(text) == endpoint)
        #expect(endpoint.description == text)
    }

    @Test("An invalid endpoint is refused", arguments: ["", "8080", "::1:8080", "a:b", ":80", "1.2.3.4:65536"])
    func endpointRefused(text: String) {
        #expect(ClientEndpoint(text) == nil)
    }

    @Test("Bytes are sent and received over every kind of socket", arguments: endpoints)
    func echoes(endpoint: ClientEndpoint) async throws {
        let server = try ScriptedServer(at: endpoint) { peer in peer.write(peer.read(10)) }
        let connection = try await RawConnection.connect(to: server.endpoint)
        try await connection.send("0123456789")
        #expect(try await connection.receiveExactly(4) == Array("0123".utf8))
        #expect(try await connection.receiveUntil("78") == Array("45678".utf8))
        #expect(try await connection.receiveToEnd() == Array("9".utf8))
        try await connection.expectClosed()
        if case .unix(let path) = endpoint { unlink(path) }
    }

    @Test("A delimiter is found wherever the bytes are split", arguments: 1...9)
    func delimiterAcrossPieces(size: Int) async throws {
        let server = try ScriptedServer { peer in
            for byte in "ab\r\n\r\r\n\r\ncd".utf8 {
                peer.write([byte])
                if size > 4 { usleep(500) }
            }
        }
        let connection = try await RawConnection.connect(to: server.endpoint)
        #expect(try await connection.receiveUntil("\r\n\r\n") == Array("ab\r\n\r\r\n\r\n".utf8))
        #expect(try await connection.receiveToEnd() == Array("cd".utf8))
    }

    @Test("Pieces of any size add up to the message", arguments: [1, 2, 7, 1000])
    func pieces(size: Int) async throws {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let server = try ScriptedServer { peer in peer.write(peer.read(1000)) }
        let connection = try await RawConnection.connect(to: server.endpoint)
        try await connection.send(message, inPiecesOf: size)
        #expect(try await connection.receiveExactly(1000) == message)
    }

    @Test("A failed wait names the awaited event")
    func deadline() async throws {
        let server = try ScriptedServer { peer in
            peer.write("ab")
            _ = peer.read(1)
        }
        let connection = try await RawConnection.connect(to: server.endpoint)
        let failure = await #expect(throws: ClientFailure.self) {
            try await connection.receiveExactly(3, within: .milliseconds(100))
        }
        #expect(
            failure
                == .timedOut(
                    waitingFor: "3 bytes", after: .milliseconds(100), received: "2 bytes, \"ab\""))
        #expect(try await connection.receiveExactly(2) == Array("ab".utf8), "a wait in vain takes nothing")
    }

    @Test("A cancelled wait ends at once")
    func cancellation() async throws {
        let server = try ScriptedServer { peer in _ = peer.read(1) }
        let connection = try await RawConnection.connect(to: server.endpoint)
        let waiting = Task { try await connection.receiveExactly(1, within: .seconds(60)) }
        waiting.cancel()
        await #expect(throws: ClientFailure.cancelled(waitingFor: "1 bytes")) { try await waiting.value }
    }

    @Test("A byte instead of the end is a violation, and a reset is an end")
    func expectClosed() async throws {
        let verbose = try ScriptedServer { peer in peer.write("x") }
        let connection = try await RawConnection.connect(to: verbose.endpoint)
        await #expect(throws: ClientFailure.violation("expected the end, received 1 bytes, \"x\"")) {
            try await connection.expectClosed()
        }
        let vanishing = try ScriptedServer { peer in peer.reset() }
        let other = try await RawConnection.connect(to: vanishing.endpoint)
        try await other.expectClosed()
    }

    @Test("An early end reports the received bytes")
    func early() async throws {
        let server = try ScriptedServer { peer in peer.write("ab") }
        let connection = try await RawConnection.connect(to: server.endpoint)
        await #expect(throws: ClientFailure.ended(waitingFor: "3 bytes", received: "2 bytes, \"ab\"")) {
            try await connection.receiveExactly(3)
        }
    }

    @Test("A port without a listener refuses")
    func refused() async throws {
        var server: ScriptedServer? = try ScriptedServer { _ in }
        let endpoint = try #require(server?.endpoint)
        let only = try await RawConnection.connect(to: endpoint)
        try await only.expectClosed()
        server = nil
        // The thread that accepts closes the listener in its own time.
        let failure = await #expect(throws: ClientFailure.self) {
            while true { try await RawConnection.connect(to: endpoint).expectClosed() }
        }
        #expect(failure == .system(call: "connect", code: ECONNREFUSED))
    }

    @Test("The peer detects a half-closed stream and a reset", arguments: [false, true])
    func endings(byReset: Bool) async throws {
        let outcomes = EventRecorder<Int32>()
        let server = try ScriptedServer { peer in
            peer.write("x")
            outcomes.append(peer.read(2).isEmpty ? errno : -1)
            peer.write("y")
        }
        let connection = try await RawConnection.connect(to: server.endpoint)
        #expect(try await connection.receiveExactly(1) == [0x78])
        if byReset {
            try await connection.reset()
            #expect(try await outcomes.next() == ECONNRESET)
        } else {
            try await connection.shutdownWrite()
            _ = try await outcomes.next { $0 != ECONNRESET && $0 != EAGAIN }
            #expect(try await connection.receiveToEnd() == [0x79])
        }
    }

    @Test("Bytes that the peer doesn't read fail at the deadline")
    func stalls() async throws {
        let isOver = DispatchSemaphore(value: 0)
        defer { isOver.signal() }
        let server = try ScriptedServer { _ in isOver.wait() }
        let connection = try await RawConnection.connect(to: server.endpoint)
        let failure = await #expect(throws: ClientFailure.self) {
            try await connection.send([UInt8](repeating: 0, count: 64 << 20), within: .milliseconds(300))
        }
        guard case .timedOut = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("A client that doesn't read makes its peer wait")
    func holdsBack() async throws {
        let sizes = EventRecorder<Int>()
        let server = try ScriptedServer { peer in
            for index in 0..<256 {
                peer.write([UInt8](repeating: UInt8(index), count: 65_536))
                sizes.append(index)
            }
        }
        let connection = try await RawConnection.connect(to: server.endpoint, receiveBuffer: 4096)
        await #expect(throws: ClientFailure.self) {
            try await sizes.next("16 MiB sent", within: .milliseconds(200)) { $0 == 255 }
        }
        let bytes = try await connection.receiveToEnd(within: .seconds(60))
        #expect(bytes.count == 16 << 20)
        #expect(bytes.last == 255)
    }

    @Test("Hundreds of connections wait at the same time")
    func hundreds() async throws {
        let server = try ScriptedServer { peer in peer.write(peer.read(2)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let bytes = [UInt8(index >> 8), UInt8(index & 0xFF)]
                    let connection = try await RawConnection.connect(to: server.endpoint)
                    let answer = Task { try await connection.receiveToEnd(within: .seconds(30)) }
                    try await connection.send(bytes)
                    #expect(try await answer.value == bytes)
                    await connection.close()
                }
            }
            try await group.waitForAll()
        }
    }
}
