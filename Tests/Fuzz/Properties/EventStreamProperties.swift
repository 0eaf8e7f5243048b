import Wire

/// The client's parser of server-sent events: it reads the same for every splitting and as a simple parser, and limits
/// the size of an event.
enum EventStreamProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let limit = input.option(0) ? 24 : 4096
        let readings = input.arrivals.map { Reading($0, limit: limit) }
        let reading = readings[0]
        for other in readings.dropFirst() {
            try require(
                other.isTooLong == reading.isTooLong && (other.isTooLong || other.events == reading.events),
                "another split is read otherwise: \(reading) \(other)")
        }
        for event in reading.events {
            try require(event.data.unicodeScalars.count <= limit, "an event of \(event.data.utf8.count) bytes")
        }
        guard !reading.isTooLong else { return }
        let plain = plainEvents(input.content)
        try require(plain == reading.events, "a plain reading differs: \(plain) \(reading)")
        try checkRewritten(reading.events)
    }

    private struct Reading {
        var events: [ServerSentEvent] = []
        var isTooLong = false

        init(_ pieces: [[UInt8]], limit: Int) {
            var parser = ServerSentEventParser(maxEventBytes: limit)
            do throws(ServerSentEventParser.TooLong) {
                for piece in pieces { events += try parser.read(piece) }
            } catch {
                isTooLong = true
            }
        }
    }

    /// Parses all bytes at once, line by line (WHATWG HTML §9.2.6).
    private static func plainEvents(_ bytes: [UInt8]) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        var (event, id, data): (String?, String?, [String]) = (nil, nil, [])
        for (number, bytes) in lines(bytes).enumerated() {
            let line = number == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
            guard !line.isEmpty else {
                if !data.isEmpty {
                    events.append(ServerSentEvent(id: id, event: event, data: data.joined(separator: "\n")))
                }
                (event, data) = (nil, [])
                continue
            }
            let name = line.prefix { $0 != 0x3A }
            var value = line.dropFirst(name.count + 1)
            if value.first == 0x20 { value = value.dropFirst() }
            let text = String(decoding: value, as: UTF8.self)
            switch String(decoding: name, as: UTF8.self).unicodeScalars.map(\.value) {
            case "data".unicodeScalars.map(\.value): data.append(text)
            case "event".unicodeScalars.map(\.value): event = text.isEmpty ? nil : text
            case "id".unicodeScalars.map(\.value) where !value.contains(0): id = text
            default: break
            }
        }
        return events
    }

    /// Returns the complete lines.
    private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 10 where index > 0 && bytes[index - 1] == 13: break
            case 10, 13:
                lines.append(line)
                line = []
            default: line.append(byte)
            }
        }
        return lines
    }

    /// Events that were read are the same after they are written by the server and read again.
    private static func checkRewritten(_ events: [ServerSentEvent]) throws(BrokenProperty) {
        // A NUL in a type is written as a space.
        for event in events where event.event?.unicodeScalars.contains("\0") != true {
            var bytes: [UInt8] = []
            event.encode(into: &bytes)
            let again = Reading([bytes], limit: .max)
            try require(again.events == [event], "written anew: \(event) \(again)")
        }
    }
}
