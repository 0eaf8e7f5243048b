import Basics
import Glibc
import Sockets
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests of the socket transport with a scripted server.
@Suite struct SocketTransportTests {
    private static func connect(to server: RawServer) async throws -> (SocketConnection, RawConnection) {
        let addresses = try SocketAddress.resolve(host: "127.0.0.1", port: server.port)
        async let accepted = server.accept()
        let connection = try await SocketConnection.open(
            to: addresses, host: "127.0.0.1", tls: nil, within: Deadline.standard)
        return (connection, try await accepted)
    }

    @Test("A cancelled send doesn't close the connection")
    func cancelledSender() async throws {
        let (connection, peer) = try await Self.connect(to: try RawServer())
        // More bytes than the kernel buffers, while the server doesn't read.
        let long = [UInt8](repeating: 1, count: 12 << 20)
        let sending = Task { () async -> ClientError? in
            do throws(ClientError) { try await connection.send(long) } catch { return error }
            return nil
        }
        _ = try await peer.receive(upTo: 1)
        sending.cancel()
        #expect(await sending.value == .cancelled)
        // A send that was cancelled before it began sends nothing.
        let early = Task { () async -> ClientError? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(ClientError) { try await connection.send([9]) } catch { return error }
            return nil
        }
        #expect(await early.value == .cancelled)
        async let sent: Void = connection.send([2])
        #expect(try await peer.receiveExactly(long.count - 1) == Array(long.dropFirst()))
        #expect(try await peer.receiveExactly(1) == [2])
        try await sent
        try await peer.send([3])
        #expect(try await connection.receive() == [3])
        connection.drop()
        try await peer.expectClosed()
    }

    @Test(
        "A server that sends no complete answer is unreachable", arguments: [false, true])
    func silent(half: Bool) async throws {
        let server = try RawServer()
        var transport = SocketTransport(server: try server.address)
        transport.exchangeLimit = .milliseconds(200)
        async let accepted = server.accept()
        let exchange = Task { [transport] in try await transport.exchange(ClientRequest(target: "/")) }
        let peer = try await accepted
        if half { try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") }
        await #expect(throws: ClientError.unreachable("no answer in time")) { try await exchange.value }
    }

    @Test(
        "A server that disconnects during its answer is unreachable", arguments: [false, true], [false, true])
    func goesAway(half: Bool, byReset: Bool) async throws {
        let server = try RawServer()
        let transport = SocketTransport(server: try server.address)
        async let accepted = server.accept()
        let exchange = Task { try await transport.exchange(ClientRequest(target: "/")) }
        let peer = try await accepted
        _ = try await peer.receiveUntil("\r\n\r\n")
        if half { try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") }
        if byReset { try await peer.reset() } else { await peer.close() }
        await #expect {
            _ = try await exchange.value
        } throws: { error in
            guard case ClientError.unreachable? = error as? ClientError else { return false }
            return true
        }
    }

    /// Whether a connection waits to be accepted.
    private static func isAsked(_ server: RawServer) -> Bool {
        var entry = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    @Test("A caller that is cancelled before it begins doesn't connect")
    func cancelledEarly() async throws {
        let server = try RawServer()
        let transport = SocketTransport(server: try server.address)
        let exchange = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.exchange(ClientRequest(target: "/"))
        }
        await #expect(throws: ClientError.cancelled) { try await exchange.value }
        #expect(!Self.isAsked(server))
    }

    @Test("Cancelling during a stalled TLS handshake ends the attempt")
    func cancelledHandshake() async throws {
        let (server, other) = (try RawServer(), try RawServer())
        let addresses = try [server, other].flatMap { try SocketAddress.resolve(host: "127.0.0.1", port: $0.port) }
        let tls = try TLSClientContext(authorities: nil)
        let opening = Task { () async -> ClientError? in
            do throws(ClientError) {
                _ = try await SocketConnection.open(
                    to: addresses, host: "127.0.0.1", tls: tls, within: .seconds(40), delay: .seconds(40))
            } catch {
                return error
            }
            return nil
        }
        let peer = try await server.accept()
        _ = try await peer.receive(upTo: 1)
        opening.cancel()
        #expect(await opening.value == .cancelled)
        #expect(!Self.isAsked(other))
    }

    /// Connects within an hour, to 127.0.0.1 at these ports.
    private static func open(
        _ ports: [UInt16], within limit: Duration = .seconds(3600), delay: Duration = .seconds(3600),
        tls: TLSClientContext? = nil
    ) async throws -> SocketConnection {
        let addresses = try ports.flatMap { try SocketAddress.resolve(host: "127.0.0.1", port: $0) }
        return try await SocketConnection.open(
            to: addresses, host: "127.0.0.1", tls: tls, within: limit, delay: delay)
    }

    /// Runs `body` with a loop that has no other connections, so that all of its attempts are those of one race.
    private static func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(index: 0, openSockets: SocketCount())
        await loop.start()
        do {
            try await body(loop)
            await loop.stop()
        } catch {
            await loop.stop()
            throw error
        }
    }

    /// Connects on `loop`, within an hour, to the first of 127.0.0.1's ports that answers.
    private static func race(_ ports: [UInt16], on loop: EventLoop) async throws -> SocketConnection {
        let addresses = try ports.flatMap { try SocketAddress.resolve(host: "127.0.0.1", port: $0) }
        return try await SocketConnection.race(
            addresses, on: loop, by: .now() + .seconds(3600), delay: .milliseconds(1)
        ).winner
    }

    private static func wait(untilAttempts count: Int, on loop: EventLoop) async throws {
        try await eventually("\(count) attempts") { await loop.run { ConnectionTable.on($0).attempts.count == count } }
    }

    @Test("An address that doesn't answer doesn't delay the next one")
    func silentAddress() async throws {
        let (silent, server) = (try SilentServer(), try RawServer())
        try await Self.withLoop { loop in
            async let accepted = server.accept()
            let opening = Task { try await Self.race([silent.port, silent.port, server.port], on: loop) }
            let peer = try await accepted
            let connection = try await opening.value
            try await connection.send([7])
            #expect(try await peer.receiveExactly(1) == [7])
            try await Self.wait(untilAttempts: 0, on: loop)
            connection.drop()
            try await peer.expectClosed()
        }
    }

    @Test("A refused connection starts the next attempt at once")
    func refusedAddress() async throws {
        let server = try RawServer()
        async let accepted = server.accept()
        // The delay is an hour.
        let port = try FreePort.find()
        let opening = Task { try await Self.open([port, server.port]) }
        _ = try await accepted
        _ = try await opening.value
    }

    @Test("The next address isn't tried while an earlier one connects in time")
    func fastAddress() async throws {
        let (server, other) = (try RawServer(), try RawServer())
        async let accepted = server.accept()
        _ = try await Self.open([server.port, other.port])
        _ = try await accepted
        #expect(!Self.isAsked(other))
    }

    @Test("Cancelling closes all attempts to connect")
    func cancelledAttempts() async throws {
        let silent = try SilentServer()
        try await Self.withLoop { loop in
            let opening = Task { try await Self.race([silent.port, silent.port], on: loop) }
            try await Self.wait(untilAttempts: 2, on: loop)
            opening.cancel()
            await #expect(throws: ClientError.cancelled) { try await opening.value }
            try await Self.wait(untilAttempts: 0, on: loop)
        }
    }

    @Test("Addresses that don't answer in time are unreachable")
    func silentAddresses() async throws {
        let silent = try SilentServer()
        await #expect {
            _ = try await Self.open(
                [silent.port, silent.port], within: .milliseconds(50), delay: .milliseconds(1))
        } throws: { error in
            guard case ClientError.unreachable? = error as? ClientError else { return false }
            return true
        }
    }

    @Test("If a server closes the connection during the TLS handshake, the next address is tried")
    func brokenHandshake() async throws {
        let (server, other) = (try RawServer(), try RawServer())
        let tls = try TLSClientContext(authorities: nil)
        let opening = Task { try await Self.open([server.port, other.port], tls: tls) }
        let peer = try await server.accept()
        _ = try await peer.receive(upTo: 1)
        await peer.close()
        _ = try await other.accept()
        opening.cancel()
        _ = await opening.result
    }

    @Test("Cancelling a caller that waits for an answer ends the wait")
    func cancelled() async throws {
        let server = try RawServer()
        let transport = SocketTransport(server: try server.address)
        async let accepted = server.accept()
        let exchange = Task { try await transport.exchange(ClientRequest(target: "/")) }
        let peer = try await accepted
        _ = try await peer.receiveUntil("\r\n\r\n")
        exchange.cancel()
        await #expect(throws: ClientError.cancelled) { try await exchange.value }
        try await peer.expectClosed()
    }
}
