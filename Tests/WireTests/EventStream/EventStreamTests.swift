import Testing

@testable import Wire

@Suite struct EventStreamTests {
    private func parse(_ pieces: [[UInt8]], maxEventBytes: Int = 1000) throws -> [ServerSentEvent] {
        var parser = EventStreamParser(maxEventBytes: maxEventBytes)
        return try pieces.flatMap { piece in
            try withExactMemory(piece) { try parser.append(UnsafeRawBufferPointer($0)) }
        }
    }

    private func encoded(_ event: ServerSentEvent) -> String {
        var buffer: [UInt8] = []
        event.encode(into: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    @Test func anEventIsWrittenLineByLine() {
        let event = ServerSentEvent(id: "1", event: "reminder", data: "{\"a\":1}")
        #expect(encoded(event) == "id: 1\nevent: reminder\ndata: {\"a\":1}\n\n")
        #expect(encoded(ServerSentEvent(data: "a\nb\r\nc\rd\n")) == "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n")
        #expect(encoded(ServerSentEvent(data: "")) == "data: \n\n")
    }

    @Test func nothingInAValueCanBeginAField() {
        let event = ServerSentEvent(id: "1\ndata: x", event: "a\r\nid: 2\0", data: "b\n\nid: 3")
        #expect(encoded(event) == "id: 1 data: x\nevent: a  id: 2 \ndata: b\ndata: \ndata: id: 3\n\n")
        var comment: [UInt8] = []
        ServerSentEvent.comment("a\n\ndata: b", into: &comment)
        #expect(String(decoding: comment, as: UTF8.self) == ": a\n: \n: data: b\n\n")
    }

    @Test(arguments: [
        // The examples of WHATWG HTML §9.2.6, and what they leave out.
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\ndata: fourth",
            [
                ServerSentEvent(id: "1", data: "first event"), ServerSentEvent(data: "second event"),
                ServerSentEvent(data: " third event"),
            ]
        ),
        ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
        ("data:test\n\ndata: test\n\n", [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]),
        ("event: a\n\ndata: b\n\n", [ServerSentEvent(data: "b")]),
        ("\u{FEFF}data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"].map { ServerSentEvent(data: $0) }),
        ("id: 1\n\nid: 2\0\nfoo: x\nevent: e\ndata: a:b\n\n", [ServerSentEvent(id: "1", event: "e", data: "a:b")]),
    ])
    func everySplitGivesTheSameEvents(_ stream: String, _ events: [ServerSentEvent]) throws {
        for pieces in arrivals(of: Array(stream.utf8)) {
            #expect(try parse(pieces) == events, "\(pieces.map(\.count))")
        }
    }

    @Test func whatIsWrittenIsRead() throws {
        let events = [
            ServerSentEvent(id: "a", event: "reminder", data: "{}"), ServerSentEvent(id: "b", data: "x\n y\n"),
            ServerSentEvent(id: "b", event: "schedule", data: ": no comment"),
        ]
        var buffer: [UInt8] = []
        ServerSentEvent.comment("hello", into: &buffer)
        for event in events { event.encode(into: &buffer) }
        #expect(try parse([buffer]) == events)
    }

    @Test func theStreamsLastIdAndDelayAreKept() throws {
        var parser = EventStreamParser()
        let stream = "id: 7\nretry: 1500\n\nretry: x\nretry: 99999999999999999999\n\n"
        _ = try withExactMemory(Array(stream.utf8)) { try parser.append(UnsafeRawBufferPointer($0)) }
        #expect(parser.lastEventID == "7")
        #expect(parser.retryMilliseconds == 1500)
    }

    @Test func linesAndEventsAreBounded() throws {
        let text = String(repeating: "x", count: 14)
        #expect(try parse([Array("data: \(text)\n\n".utf8)], maxEventBytes: 20).count == 1)
        #expect(throws: EventStreamParser.TooLong.self) { try parse([Array("data: \(text)x".utf8)], maxEventBytes: 20) }
        #expect(throws: EventStreamParser.TooLong.self) {
            try parse([Array("data: \(text)\ndata: \(text)\n".utf8)], maxEventBytes: 20)
        }
    }
}
