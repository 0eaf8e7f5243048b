/// Reads an event stream, however the bytes are split (WHATWG HTML §9.2.6): what a client does.
package struct EventStreamParser: Sendable {
    /// An event, or a line, was longer than allowed. The stream is of no use after it.
    package struct TooLong: Error, Hashable {}

    /// What the stream said last with `id:`; empty at first.
    package private(set) var lastEventID = ""
    /// Milliseconds to wait before connecting again, when the stream said so.
    package private(set) var retryMilliseconds: Int?

    private let maxEventBytes: Int
    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var eventType = ""
    private var isFirstLine = true
    private var endsWithCarriageReturn = false

    /// - Parameter maxEventBytes: of one event's data, and of one line.
    package init(maxEventBytes: Int = 64 * 1024) {
        self.maxEventBytes = maxEventBytes
    }

    /// Takes the next bytes and returns the events that they complete. Bytes that are not UTF-8 become U+FFFD.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(TooLong) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            // CRLF is one line end, also when the two come in different calls.
            let isSecondHalf = endsWithCarriageReturn && byte == ASCII.lineFeed
            endsWithCarriageReturn = byte == ASCII.carriageReturn
            if isSecondHalf { continue }
            if byte == ASCII.lineFeed || byte == ASCII.carriageReturn {
                if let event = try endLine() { events.append(event) }
            } else {
                guard line.count < maxEventBytes else { throw TooLong() }
                line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() throws(TooLong) -> ServerSentEvent? {
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else { return dispatch() }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            try take(field: line[...], value: [])
            return nil
        }
        var value = line[(colon + 1)...]
        if value.first == ASCII.space { value.removeFirst() }
        // A line that begins with a colon is a comment: its field's name is empty, and unknown.
        try take(field: line[..<colon], value: value)
        return nil
    }

    private mutating func take(field: ArraySlice<UInt8>, value: ArraySlice<UInt8>) throws(TooLong) {
        switch String(decoding: field, as: UTF8.self) {
        case "data":
            guard data.count + value.count < maxEventBytes else { throw TooLong() }
            data += value
            data.append(ASCII.lineFeed)
        case "event":
            eventType = String(decoding: value, as: UTF8.self)
        case "id":
            if !value.contains(0) { lastEventID = String(decoding: value, as: UTF8.self) }
        case "retry":
            if !value.isEmpty, value.allSatisfy(ASCII.isDigit), let delay = Int(String(decoding: value, as: UTF8.self))
            {
                retryMilliseconds = delay
            }
        default: break
        }
    }

    /// An event without data is none.
    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            data.removeAll(keepingCapacity: true)
            eventType = ""
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            id: lastEventID.isEmpty ? nil : lastEventID, event: eventType.isEmpty ? nil : eventType,
            data: String(decoding: data.dropLast(), as: UTF8.self))
    }
}
