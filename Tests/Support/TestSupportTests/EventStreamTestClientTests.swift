import TestSupport
import Testing

@Suite struct EventStreamTestClientTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"

    @Test("Events and comments are read in any chunks", arguments: [1, 2, 3, 5, 100])
    func reads(chunkSize: Int) async throws {
        let heads = EventRecorder<String>()
        let server = try ScriptedServer { peer in
            heads.append(peer.readHead())
            peer.write(Self.head + "Transfer-Encoding: chunked\r\n\r\n")
            var stream = Array(
                ": hello\n\nid: 1\nevent: reminder\ndata: {\"a\":1}\n\n:\r\ndata: x\r\ndata:  y\r\n\r\ndata: ü\r\r".utf8
            )[...]
            while !stream.isEmpty {
                let piece = stream.prefix(chunkSize)
                stream = stream.dropFirst(chunkSize)
                peer.write(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10])
            }
            // The stream continues: all items above must arrive before its end.
            _ = peer.read(1)
        }
        let client = try await EventStreamTestClient.connect(to: server.endpoint, "/reminders", lastEventID: "0")
        #expect(try await heads.next().contains("Last-Event-ID: 0\r\n"))
        let first = try await client.nextEvent()
        #expect(first == StreamedEvent(id: "1", event: "reminder", data: "{\"a\":1}"))
        #expect(try first.json()["a"].int == 1)
        #expect(try await client.nextComment() == "hello")
        #expect(try await client.nextItem() == .comment(""))
        #expect(try await client.nextEvent() == StreamedEvent(id: nil, event: "message", data: "x\n y"))
        #expect(try await client.nextEvent().data == "ü")
        await #expect(throws: ClientFailure.self) { try await client.nextEvent(within: .milliseconds(50)) }
        await client.close()
    }

    @Test("A response that isn't an event stream is returned")
    func refused() async throws {
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}")
        }
        let refused = await #expect(throws: StreamRefused.self) {
            try await EventStreamTestClient.connect(to: server.endpoint, "/reminders")
        }
        #expect(refused?.response.status == 400)
        #expect(refused?.response.text == "{}")
    }

    @Test("An unknown field or invalid UTF-8 is refused", arguments: [Array("dta: x\n\n".utf8), [0x64, 0xFF, 0x0A]])
    func violations(bytes: [UInt8]) async throws {
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write(Array((Self.head + "\r\n").utf8) + bytes)
        }
        let client = try await EventStreamTestClient.connect(to: server.endpoint, "/")
        let failure = await #expect(throws: ClientFailure.self) { try await client.nextEvent() }
        guard case .violation = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("The stream's end is detected")
    func end() async throws {
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write(Self.head + "Transfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n0\r\n\r\n")
        }
        let client = try await EventStreamTestClient.connect(to: server.endpoint, "/")
        try await client.expectEnd()
        #expect(try await client.nextEvent().data == "x")
        await #expect(throws: ClientFailure.self) { try await client.nextEvent() }
    }
}
