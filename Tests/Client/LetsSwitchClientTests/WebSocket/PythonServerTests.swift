import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests with the server of python3-websockets, an independent implementation.
@Suite struct PythonServerTests {
    private struct Note: Codable, Sendable, Equatable {
        let text: String
    }

    private typealias Socket = WebSocketClient<Note, Note>

    /// Runs a test with a server that is stopped afterwards.
    private static func with(_ body: (_ address: ServerAddress, _ server: PythonWebSocketServer) async throws -> Void)
        async throws
    {
        let server = try await PythonWebSocketServer.start()
        do {
            try await body(try ServerAddress("127.0.0.1:\(server.port)"), server)
        } catch {
            await server.kill()
            throw error
        }
        await server.kill()
    }

    @Test("Text and binary messages are exchanged, and a ping is answered", arguments: [Opcode.text, .binary])
    func echo(opcode: Opcode) async throws {
        try await Self.with { address, _ in
            let socket = Socket(address, path: "/a", reconnect: .never)
            var events = socket.events.makeAsyncIterator()
            guard case .opened? = try await events.next() else { throw ClientFailure.violation("not opened") }
            for text in ["", "héllo", String(repeating: "x", count: 70_000)] {
                try await socket.send(Note(text: text), as: opcode)
                guard case .message(let note)? = try await events.next() else {
                    throw ClientFailure.violation("no echo")
                }
                #expect(note == Note(text: text))
            }
            // Only a reader receives the pong.
            let reading = Task { [events] in
                var events = events
                return try await events.next()
            }
            #expect(try await socket.ping() > .zero)
            await socket.cancel()
            _ = await reading.result
        }
    }

    @Test("The server's own close code ends the socket and is reported")
    func close() async throws {
        try await Self.with { address, server in
            let socket = WebSocketClient<Note, String>(address, path: "/a")
            // A JSON string has quotes. The server expects them.
            try await socket.send("close", as: .text)
            var last: CloseCode?
            await #expect(throws: ClientError.closed(CloseCode(rawValue: 4000), reason: "the test closes")) {
                for try await event in socket.events { if case .closed(let code) = event { last = code } }
            }
            #expect(last == CloseCode(rawValue: 4000))
            #expect(try await server.nextClose() == 4000)
        }
    }

    @Test("A refusal is reported with its status and Retry-After")
    func refusal() async throws {
        try await Self.with { address, _ in
            let refused = Socket(address, path: "/refused", reconnect: .never)
            await #expect(throws: ClientError.refused(ServerRefusal(status: 403, retryAfter: .seconds(5)))) {
                for try await _ in refused.events {}
            }
            // The same refusal could mean a room that isn't open yet.
            let patient = Socket(address, path: "/refused")
            var events = patient.events.makeAsyncIterator()
            guard case .waiting(let wait)? = try await events.next() else { throw ClientFailure.violation("no wait") }
            #expect(wait == .seconds(5))
            await patient.cancel()
        }
    }

    @Test("The server receives 1001 when the socket or its reading task is cancelled", arguments: [false, true])
    func cancelled(task: Bool) async throws {
        try await Self.with { address, server in
            let socket = Socket(address, path: "/a")
            let opened = EventRecorder<Void>()
            let reading = Task {
                for try await case .opened in socket.events { opened.append(()) }
            }
            try await opened.next("the connection")
            if task { reading.cancel() } else { await socket.cancel() }
            #expect(try await server.nextClose() == 1001)
            _ = await reading.result
        }
    }
}
