/// An event of a stream. `id` is the id in the event itself, not the last one remembered.
package struct StreamedEvent: Sendable, Equatable {
    package let id: String?
    /// The event's type; `message` if the event has none.
    package let event: String
    package let data: String

    package init(id: String?, event: String, data: String) {
        self.id = id
        self.event = event
        self.data = data
    }

    package func json() throws -> TestJSON { try TestJSON(parsing: Array(data.utf8)) }
}

package enum EventStreamItem: Sendable, Equatable {
    case event(StreamedEvent)
    case comment(String)
}

/// Decodes events by the WHATWG's rules (HTML §9.2.6): lines end in LF, CR or CRLF, and an empty line dispatches an
/// event with data. Fields that the rules ignore are violations here, because our server has no reason to send any.
package struct EventStreamDecoder {
    private var line: [UInt8] = []
    private var endedWithCR = false
    private var id: String?
    private var event: String?
    private var data: [String] = []

    package init() {}

    package mutating func decode(_ bytes: [UInt8]) throws(ClientFailure) -> [EventStreamItem] {
        var items: [EventStreamItem] = []
        for byte in bytes {
            let completesCRLF = endedWithCR && byte == 0x0A
            endedWithCR = byte == 0x0D
            if completesCRLF { continue }
            guard byte == 0x0A || byte == 0x0D else {
                line.append(byte)
                guard line.count <= 1 << 20 else { throw .violation("an event stream's line of over 1 MiB") }
                continue
            }
            if let item = try endLine() { items.append(item) }
            line.removeAll(keepingCapacity: true)
        }
        return items
    }

    private mutating func endLine() throws(ClientFailure) -> EventStreamItem? {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw .violation("an event stream's line is no UTF-8: \(ReceivedBytes.preview(line))")
        }
        if text.isEmpty { return dispatch() }
        if text.utf8.first == UInt8(ascii: ":") { return .comment(String(text.dropFirst().trimmed)) }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count == 2 ? parts[1] : ""
        if value.first == " " { value.removeFirst() }
        switch parts[0] {
        case "id": id = String(value)
        case "event": event = String(value)
        case "data": data.append(String(value))
        case "retry":
            guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw .violation("retry: \(value)")
            }
        default: throw .violation("an event stream's field \"\(parts[0])\"")
        }
        return nil
    }

    private mutating func dispatch() -> EventStreamItem? {
        defer { (id, event, data) = (nil, nil, []) }
        guard !data.isEmpty else { return nil }
        return .event(StreamedEvent(id: id, event: event ?? "message", data: data.joined(separator: "\n")))
    }
}
