import Testing

@testable import Wire

@Suite struct ServerSentEventParserTests {
    private static let stream =
        "\u{FEFF}: hello\n\nid: 1\nevent: reminder\ndata: one\ndata:two\n\ndata: \r\rid\nevent: x\n\ndata:  3\r\n\r\n"

    @Test("Events don't depend on how bytes are split or lines end")
    func splits() throws {
        for pieces in arrivals(of: Array(Self.stream.utf8)) {
            var parser = ServerSentEventParser()
            let events = try pieces.flatMap { try parser.read($0) }
            #expect(
                events == [
                    ServerSentEvent(id: "1", event: "reminder", data: "one\ntwo"),
                    ServerSentEvent(id: "1", data: ""),
                    ServerSentEvent(id: "", data: " 3"),
                ])
        }
    }

    @Test("The parser returns the events that the server has encoded")
    func bothSides() throws {
        let event = ServerSentEvent(id: "A", event: "schedule", data: "{}\n{}")
        var bytes: [UInt8] = []
        ServerSentEvent.comment("still here", into: &bytes)
        event.encode(into: &bytes)
        var parser = ServerSentEventParser()
        #expect(try parser.read(bytes) == [event])
        #expect(parser.lastEventID == "A")
    }

    @Test("An endless event is refused, also without line ends")
    func limit() throws {
        var parser = ServerSentEventParser(maxEventBytes: 10)
        #expect(try parser.read(Array("data: 1234\n\ndata: 5678\n\n".utf8)).count == 2)
        #expect(throws: ServerSentEventParser.TooLong()) { try parser.read(Array("data: 123\ndata: 4".utf8)) }
        var other = ServerSentEventParser(maxEventBytes: 10)
        #expect(throws: ServerSentEventParser.TooLong()) { try other.read(Array(repeating: 65, count: 11)) }
    }

    @Test(
        "Comments and unknown fields may continue for ever, also within an event",
        arguments: [": ping\n", "a: b\r\n", "a\r"])
    func comments(_ line: String) throws {
        var parser = ServerSentEventParser(maxEventBytes: 14)
        let lines = String(repeating: line, count: 100)
        #expect(try parser.read(Array((lines + "data: 1\n" + lines + "\n\n").utf8)).map(\.data) == ["1"])
        #expect(throws: ServerSentEventParser.TooLong()) { try parser.read(Array(":23456789012345".utf8)) }
        var other = ServerSentEventParser(maxEventBytes: 14)
        #expect(throws: ServerSentEventParser.TooLong()) { try other.read(Array("data: 1\n\(line)data: 23".utf8)) }
    }
}
