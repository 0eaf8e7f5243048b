import TestSupport
import Testing

@testable import LetsSwitchClient

/// Our library against python3-websockets' server, which nobody here wrote.
@Suite struct PythonServerTests {
    private struct Note: Codable, Sendable, Equatable {
        let text: String
    }

    private typealias Socket = WebSocketClient<Note, Note>

    /// Runs against a server, which ends with it.
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

    @Test("Text and bytes are understood there and here, and a ping is answered", arguments: [Opcode.text, .binary])
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
            // The answer is heard by who reads.
            let reading = Task { [events] in
                var events = events
                return try await events.next()
            }
            #expect(try await socket.ping() > .zero)
            await socket.cancel()
            _ = await reading.result
        }
    }

    @Test("A close code of its own ends it, and is told")
    func close() async throws {
        try await Self.with { address, server in
            let socket = WebSocketClient<Note, String>(address, path: "/a")
            // As JSON it has quotes, which the server knows too.
            try await socket.send("close", as: .text)
            var last: CloseCode?
            await #expect(throws: ClientError.closed(CloseCode(rawValue: 4000), reason: "told so")) {
                for try await event in socket.events { if case .closed(let code) = event { last = code } }
            }
            #expect(last == CloseCode(rawValue: 4000))
            #expect(try await server.nextClose() == 4000)
        }
    }

    @Test("A refusal is told with its status, and when to come again")
    func refusal() async throws {
        try await Self.with { address, _ in
            let refused = Socket(address, path: "/refused", reconnect: .never)
            await #expect(throws: ClientError.refused(ServerRefusal(status: 403, retryAfter: .seconds(5)))) {
                for try await _ in refused.events {}
            }
            // It may be a room that isn't open yet.
            let patient = Socket(address, path: "/refused")
            var events = patient.events.makeAsyncIterator()
            guard case .waiting(let wait)? = try await events.next() else { throw ClientFailure.violation("no wait") }
            #expect(wait == .seconds(5))
            await patient.cancel()
        }
    }

    @Test("The server sees 1001 of who cancels the socket, and of whose task is cancelled", arguments: [false, true])
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
