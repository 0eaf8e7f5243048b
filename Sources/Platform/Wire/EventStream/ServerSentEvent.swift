/// An event of an event stream (WHATWG HTML §9.2, Server-sent events).
package struct ServerSentEvent: Sendable, Hashable {
    /// The event's id. A client sends it as `Last-Event-ID` when it reconnects. In a parsed event, this is the last id
    /// of the stream.
    package var id: String?
    /// The event's type. If it is missing, clients use `message`.
    package var event: String?
    /// The event's data, which may have several lines.
    package var data: String

    package init(id: String? = nil, event: String? = nil, data: String) {
        self.id = id
        self.event = event
        self.data = data
    }

    /// Appends the event, with one `data:` field for each line, and the empty line at the end. Line ends and NUL in
    /// `id` and `event` become spaces.
    package func encode(into buffer: inout [UInt8]) {
        if let id { Self.append("id: ", oneLine: id, to: &buffer) }
        if let event { Self.append("event: ", oneLine: event, to: &buffer) }
        Self.append("data: ", lines: data, to: &buffer)
        buffer.append(ASCII.lineFeed)
    }

    /// Appends a comment, which clients ignore. A comment keeps a stream without events alive.
    package static func comment(_ text: String, into buffer: inout [UInt8]) {
        append(": ", lines: text, to: &buffer)
        buffer.append(ASCII.lineFeed)
    }

    private static func append(_ name: StaticString, oneLine value: String, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: UnsafeRawBufferPointer(name))
        for byte in value.utf8 {
            let cannotBe = byte == ASCII.carriageReturn || byte == ASCII.lineFeed || byte == 0
            buffer.append(cannotBe ? ASCII.space : byte)
        }
        buffer.append(ASCII.lineFeed)
    }

    /// Appends a field for each line of `value`. Lines of a stream end with CR, LF or both. All three split `value`
    /// here, so that no part of it can begin a new field.
    private static func append(_ name: StaticString, lines value: String, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: UnsafeRawBufferPointer(name))
        var previous: UInt8 = 0
        for byte in value.utf8 {
            switch byte {
            case ASCII.lineFeed where previous == ASCII.carriageReturn: break
            case ASCII.lineFeed, ASCII.carriageReturn:
                buffer.append(ASCII.lineFeed)
                buffer.append(contentsOf: UnsafeRawBufferPointer(name))
            default: buffer.append(byte)
            }
            previous = byte
        }
        buffer.append(ASCII.lineFeed)
    }
}
