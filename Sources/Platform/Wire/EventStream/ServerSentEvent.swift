/// An event of an event stream (WHATWG HTML §9.2, Server-sent events).
package struct ServerSentEvent: Sendable, Hashable {
    /// What a client sends as `Last-Event-ID` when it comes back. In a parsed event the last one that the stream gave.
    package var id: String?
    /// The event's type; a client takes `message` when there is none.
    package var event: String?
    /// May have several lines.
    package var data: String

    package init(id: String? = nil, event: String? = nil, data: String) {
        self.id = id
        self.event = event
        self.data = data
    }

    /// Writes the event, one `data:` a line, and the empty line that dispatches it. Line ends and NUL in `id` and `event`
    /// become spaces: they can't be written there.
    package func encode(into buffer: inout [UInt8]) {
        if let id { Self.append("id: ", oneLine: id, to: &buffer) }
        if let event { Self.append("event: ", oneLine: event, to: &buffer) }
        Self.append("data: ", lines: data, to: &buffer)
        buffer.append(ASCII.lineFeed)
    }

    /// Writes a comment, which clients ignore; what keeps a quiet stream alive.
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

    /// A stream's lines end with CR, LF or both, so all three separate here too: nothing in `value` can begin a field.
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
