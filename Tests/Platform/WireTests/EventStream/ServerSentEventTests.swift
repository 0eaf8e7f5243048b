import Testing

@testable import Wire

@Suite struct ServerSentEventTests {
    private func encoded(_ event: ServerSentEvent) -> String {
        var buffer: [UInt8] = []
        event.encode(into: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    @Test("An event is written line by line")
    func eventIsWrittenLineByLine() {
        let event = ServerSentEvent(id: "1", event: "reminder", data: "{\"a\":1}")
        #expect(encoded(event) == "id: 1\nevent: reminder\ndata: {\"a\":1}\n\n")
        #expect(encoded(ServerSentEvent(data: "a\nb\r\nc\rd\n")) == "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n")
        #expect(encoded(ServerSentEvent(data: "")) == "data: \n\n")
    }

    @Test("Nothing in a value can begin a field")
    func nothingInAValueCanBeginAField() {
        let event = ServerSentEvent(id: "1\ndata: x", event: "a\r\nid: 2\0", data: "b\n\nid: 3")
        #expect(encoded(event) == "id: 1 data: x\nevent: a  id: 2 \ndata: b\ndata: \ndata: id: 3\n\n")
        var comment: [UInt8] = []
        ServerSentEvent.comment("a\n\ndata: b", into: &comment)
        #expect(String(decoding: comment, as: UTF8.self) == ": a\n: \n: data: b\n\n")
    }
}
