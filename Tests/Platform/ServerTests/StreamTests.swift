import Foundation
import Server
import Sockets
import TestSupport
import Testing
import Wire

@Suite struct StreamTests {
    private enum StreamEvent: Sendable, Equatable {
        case started(loop: Int)
        case closed
    }

    /// The streams that are open on a loop.
    private final class OpenStreams {
        var streams: [ResponseStream] = []
    }

    private struct Bench: Sendable {
        let server: TestServer
        let events: EventRecorder<StreamEvent>
        fileprivate let open: LoopLocal<OpenStreams>

        /// Returns the loop of the stream that was opened last.
        func started() async throws -> EventLoop {
            let event = try await events.next("a stream") { if case .started = $0 { true } else { false } }
            guard case .started(let index) = event else { throw ClientFailure.violation("\(event)") }
            return server.application.loops[index]
        }

        func withStreams(on loop: EventLoop, _ work: @Sendable (ResponseStream) -> Void) async {
            await loop.run { reactor in
                for stream in open.value(on: reactor, make: OpenStreams.init).streams { work(stream) }
            }
        }
    }

    private static let head = [HTTPField("Content-Type", "text/event-stream")]

    private static func piece(_ text: String) -> StreamChunk {
        StreamChunk { $0 += Array(text.utf8) }
    }

    private static func withBench(
        at address: String = "127.0.0.1", limits: ServerLimits = ServerLimits.patient,
        _ body: (Bench) async throws -> Void
    ) async throws {
        let (events, open) = (EventRecorder<StreamEvent>(), LoopLocal<OpenStreams>())
        try await TestServer.run(at: address, limits: limits) { routes in
            routes.addPlain()
            routes.get("endless") { _ in
                Response(
                    headers: head,
                    body: .stream { stream in
                        stream.write(piece(": hello\n\n"))
                        stream.closed = { events.append(.closed) }
                        open.value(on: stream.reactor, make: OpenStreams.init).streams.append(stream)
                        events.append(.started(loop: stream.loop.index))
                    })
            }
            routes.get("short") { _ in
                Response(
                    body: .stream { stream in
                        for text in ["one ", "", "two"] { stream.write(piece(text)) }
                        stream.finish()
                        stream.write(piece("too late"))
                        stream.finish()
                    })
            }
            // Writes the next piece when the previous one is sent.
            routes.get("long") { _ in
                Response(
                    body: .stream { stream in
                        var count = 0
                        stream.drained = { [unowned stream] in
                            count += 1
                            stream.write(piece("\(count) "))
                            if count == 50 { stream.finish() }
                        }
                    })
            }
        } _: { server in
            try await body(Bench(server: server, events: events, open: open))
        }
    }

    private static let counted = (1...50).map { "\($0) " }.joined()

    @Test("Each piece is sent as it is written")
    func pieces() async throws {
        try await Self.withBench { bench in
            for _ in 0..<2 {
                let client = try await EventStreamTestClient.connect(to: bench.server.endpoint, "/endless")
                #expect(client.response.headers.tokens(of: "Transfer-Encoding") == ["chunked"])
                #expect(client.response.headers["Content-Length"] == nil)
                #expect(try await client.nextComment() == "hello")
                let loop = try await bench.started()
                for number in 0..<3 {
                    await bench.withStreams(on: loop) { $0.write(Self.piece("data: \(number)\n\n")) }
                    #expect(try await client.nextEvent().data == "\(number)")
                }
                await client.close()
                try await bench.events.next("the end") { $0 == .closed }
                // Writing to an ended stream does nothing.
                await bench.withStreams(on: loop) { stream in
                    stream.write(Self.piece("data: late\n\n"))
                    #expect(stream.isDrained)
                    stream.finish()
                }
            }
            try await bench.server.until("no stream") { $0.openStreams == 0 }
            #expect(bench.events.all.filter { $0 == .closed }.count == 2)
        }
    }

    @Test("A stream that ends leaves the connection for the next request", arguments: ["/short", "/long"])
    func keepsConnection(path: String) async throws {
        try await Self.withBench { bench in
            let connection = try await bench.server.connection()
            let client = HTTPTestClient(over: connection)
            let requests = [path, "/now/1", path, "/later/2"].map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }
            try await connection.send(requests.joined())
            try await connection.shutdownWrite()
            let text = path == "/short" ? "one two" : Self.counted
            if path == "/long" {
                // A FIN means that the reader of a stream has left.
                _ = try? await connection.receiveToEnd()
            } else {
                for expected in [text, "1", text, "2"] {
                    #expect(try await client.readResponse(to: "GET").text == expected)
                }
                try await connection.expectClosed()
            }
            await connection.close()
            try await bench.server.untilConnections(0)
            #expect(await bench.server.application.counters().openStreams == 0)

            let whole = try await bench.server.client()
            for expected in [text, text] { #expect(try await whole.request("GET", path).text == expected) }
            #expect(try await whole.request("GET", "/later/3").text == "3")
        }
    }

    @Test("Over HTTP/1.0 a stream ends with the connection", arguments: ["", "Connection: keep-alive\r\n"])
    func oldHTTP(option: String) async throws {
        try await Self.withBench { bench in
            for (path, text) in [("/short", "one two"), ("/long", Self.counted)] {
                let connection = try await bench.server.connection()
                try await connection.send("GET \(path) HTTP/1.0\r\n\(option)\r\n")
                let response = try await HTTPTestClient(over: connection).readResponse(to: "GET")
                #expect(response.text == text)
                #expect(response.headers["Transfer-Encoding"] == nil)
                #expect(response.headers.tokens(of: "Connection") == ["close"])
            }
        }
    }

    @Test("HEAD of a stream returns its head")
    func head() async throws {
        try await Self.withBench { bench in
            let client = try await bench.server.client()
            #expect(try await client.request("HEAD", "/endless").headers["Content-Type"] == "text/event-stream")
            #expect(try await client.request("GET", "/now/1").text == "1")
            #expect(bench.events.all == [])
        }
    }

    @Test("A reader that disconnects in any way is detected", arguments: ["close", "fin", "reset"])
    func readerLeaves(how: String) async throws {
        try await Self.withBench { bench in
            let client = try await EventStreamTestClient.connect(to: bench.server.endpoint, "/endless")
            _ = try await bench.started()
            try await bench.server.until("a stream") { $0.openStreams == 1 }
            switch how {
            case "close": await client.close()
            case "fin": try await client.connection.shutdownWrite()
            default: try await client.connection.reset()
            }
            try await bench.events.next("the end") { $0 == .closed }
            try await bench.server.untilConnections(0)
            #expect(await bench.server.application.counters().openStreams == 0)
        }
    }

    @Test(
        "A reader that sends too much is disconnected", arguments: [true, false])
    func talkativeReader(isEarly: Bool) async throws {
        try await Self.withBench { bench in
            let request = "GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\n"
            let much = String(repeating: request, count: 200)
            let connection = try await bench.server.connection()
            try await connection.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n" + (isEarly ? much : request))
            let loop = try await bench.started()
            if !isEarly {
                _ = try await connection.receiveUntil("hello")
                try await connection.send(request)
                await bench.withStreams(on: loop) { $0.write(Self.piece("data: 1\n\n")) }
                _ = try await connection.receiveUntil("data: 1")
                try await connection.send(much)
            }
            try await bench.events.next("the end") { $0 == .closed }
            try await bench.server.untilConnections(0)
            #expect(await bench.server.application.counters().openStreams == 0)
        }
    }

    @Test("A reader that is too slow is disconnected", arguments: [true, false])
    func slowReader(byBytes: Bool) async throws {
        var limits = ServerLimits.patient
        if byBytes { limits.sendQueueBytes = 10_000 } else { limits.writeTimeout = .milliseconds(50) }
        limits.sendQueueBytes = byBytes ? 10_000 : 10_000_000
        try await Self.withBench(at: "/tmp/ls-slow-\(UUID().uuidString)", limits: limits) { bench in
            let slow = try await EventStreamTestClient.connect(to: bench.server.endpoint, "/endless")
            let loop = try await bench.started()
            // More bytes than the kernel's buffers take.
            let comment = ":" + String(repeating: "x", count: 997) + "\n\n"
            for _ in 0..<1000 where !bench.events.all.contains(.closed) {
                await bench.withStreams(on: loop) { $0.write(Self.piece(comment)) }
            }
            try await bench.events.next("the cut") { $0 == .closed }
            try await bench.server.until("the count") { $0.slowPeers == 1 && $0.openStreams == 0 }
            await slow.close()
        }
    }

    @Test("A stream is complete when the server stops")
    func drain() async throws {
        try await Self.withBench { bench in
            let client = try await EventStreamTestClient.connect(to: bench.server.endpoint, "/endless")
            _ = try await bench.started()
            async let drained = bench.server.application.drain(within: Deadline.standard)
            try await client.expectEnd()
            try await bench.events.next("the end") { $0 == .closed }
            await client.close()
            #expect(await drained)
        }
    }
}
