/// Parses an event stream, whose bytes may be split anywhere (WHATWG HTML §9.2.6). Lines end with CR, LF or both.
package struct ServerSentEventParser: Sendable {
    /// The maximum number of bytes of an event with all its lines. A comment or an unknown field counts until its line
    /// ends.
    private let maxEventBytes: Int
    private var line: [UInt8] = []
    private var endedWithCarriageReturn = false
    private var isFirstLine = true
    private var event: String?
    private var data: [String] = []
    private var eventBytes = 0
    /// The last received id. A client sends it as `Last-Event-ID` when it requests the stream again.
    package private(set) var lastEventID: String?

    package init(maxEventBytes: Int = 64 * 1024) {
        self.maxEventBytes = maxEventBytes
    }

    /// The error for an event that is longer than the limit.
    package struct TooLong: Error, Hashable {}

    /// Parses all of `bytes` and returns the completed events in order.
    package mutating func read(_ bytes: some Sequence<UInt8>) throws(TooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            let followsCarriageReturn = endedWithCarriageReturn
            endedWithCarriageReturn = byte == ASCII.carriageReturn
            switch byte {
            case ASCII.lineFeed where followsCarriageReturn: break
            case ASCII.lineFeed, ASCII.carriageReturn:
                if let event = takeLine() { events.append(event) }
            default:
                eventBytes += 1
                guard eventBytes <= maxEventBytes else { throw TooLong() }
                line.append(byte)
            }
        }
        return events
    }

    /// Parses the current line. If the line is empty and completes an event with data, returns the event.
    private mutating func takeLine() -> ServerSentEvent? {
        let count = line.count
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == ASCII.space { value.removeFirst() }
        // Comments and unknown fields don't count, because a server may send comments without end to keep the
        // connection alive.
        if !takeField(line[..<colon], value) { eventBytes -= count }
        return nil
    }

    /// Adds a field to the current event. Returns `false` for a comment or an unknown field.
    private mutating func takeField(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: value, as: UTF8.self)
        if name.elementsEqual("data".utf8) {
            data.append(text)
        } else if name.elementsEqual("event".utf8) {
            event = text.isEmpty ? nil : text
        } else if name.elementsEqual("id".utf8), !value.contains(0) {
            lastEventID = text
        } else {
            return false
        }
        return true
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            event = nil
            data = []
            eventBytes = 0
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(id: lastEventID, event: event, data: data.joined(separator: "\n"))
    }
}
