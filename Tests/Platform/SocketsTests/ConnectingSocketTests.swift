import Basics
import Glibc
import TestSupport
import Testing

@testable import Sockets

@Suite struct ConnectingSocketTests {
    private static func withLoop(_ body: (EventLoop, SocketCount) async throws -> Void) async throws {
        let count = SocketCount()
        let loop = try EventLoop(index: 0, openSockets: count)
        await loop.start()
        do {
            try await body(loop, count)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
        #expect(count.current == 0)
    }

    /// Returns the result of a connection attempt.
    private static func connect(
        to address: SocketAddress, on loop: EventLoop, within limit: Duration = .seconds(60)
    ) async throws -> Result<DetachedSocket, SocketError> {
        let outcomes = EventRecorder<Result<DetachedSocket, SocketError>>()
        try await loop.run { reactor in
            _ = try ConnectingSocket(to: address, on: reactor, within: limit) { outcomes.append($0) }
        }
        return try await outcomes.next()
    }

    @Test("A connection is made and carries bytes", arguments: ["127.0.0.1", "::1", "unix"])
    func connects(host: String) async throws {
        let path = "/tmp/ls-connect-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let wanted = try host == "unix" ? SocketAddress(path: path) : SocketAddress.resolve(host: host, port: 0)[0]
        let listener = try ListeningSocket(wanted)
        defer { listener.close() }
        try await Self.withLoop { loop, count in
            let detached = try await Self.connect(to: listener.address, on: loop).get()
            #expect(count.current == 1)
            let events = EventRecorder<SocketEvent>()
            try await loop.run { reactor in
                let socket = try StreamSocket(detached, on: reactor)
                socket.handler = RecordingHandler(events)
                socket.reportsDrain = true
                socket.enqueue(SharedBytes(Array("hello".utf8)))
            }
            try await events.next { $0 == .drained }
        }
    }

    @Test("A closed port refuses the connection")
    func refused() async throws {
        let listener = try ListeningSocket(SocketAddress.resolve(host: "127.0.0.1", port: 0)[0])
        let address = listener.address
        listener.close()
        try await Self.withLoop { loop, _ in
            let outcome = try await Self.connect(to: address, on: loop)
            #expect(throws: SocketError("connect", on: address.description, errno: ECONNREFUSED)) {
                try outcome.get()
            }
        }
    }

    @Test("An attempt without an answer fails at its limit")
    func limits() async throws {
        // TEST-NET-1 (RFC 5737): no host answers. Some networks refuse it at once.
        let unreachable = try SocketAddress.resolve(host: "192.0.2.1", port: 9)[0]
        try await Self.withLoop { loop, _ in
            do {
                _ = try await Self.connect(to: unreachable, on: loop, within: .milliseconds(20)).get()
                Issue.record("somebody answered")
            } catch let error as SocketError {
                #expect([ETIMEDOUT, ENETUNREACH, EHOSTUNREACH, ECONNREFUSED, EPERM].contains(error.errno))
            }
        }
    }
}
