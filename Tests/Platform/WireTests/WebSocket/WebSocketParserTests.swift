import Testing

@testable import Wire

@Suite struct WebSocketParserTests {
    @Test(
        "Unmasking doesn't depend on the payload's position",
        arguments: 0...17)
    func unmaskingDoesNotDependOnPayloadsPosition(_ start: Int) {
        let payload = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
        for length in 0...payload.count {
            let text = Array(payload.prefix(length))
            let bytes = [UInt8](repeating: 0, count: start) + frame(0x81, text)
            let events = withExactMemory(bytes) { memory -> [UInt8]? in
                var parser = WebSocketParser(role: .server, maxMessageBytes: 100)
                var input = UnsafeMutableRawBufferPointer(rebasing: memory[start...])
                guard case .message(.text, false, let message)? = try? parser.next(&input) else { return nil }
                return Array(message)
            }
            #expect(events == text)
        }
    }

    @Test("A whole message is a slice of the input")
    func wholeMessageIsSliceOfInput() throws {
        try withExactMemory(frame(0x81, "Hello") + frame(0x82, "x")) { memory in
            var parser = WebSocketParser(role: .server, maxMessageBytes: 100)
            var input = memory
            guard case .message(_, _, let payload)? = try parser.next(&input) else {
                Issue.record("no message")
                return
            }
            #expect(payload.baseAddress == memory.baseAddress.map { $0 + 6 })
            #expect(input.count == 7)
            let isInMessage = parser.isInMessage
            #expect(!isInMessage)
        }
    }

    @Test("An idle parser holds no memory")
    func parserIsSmall() throws {
        #expect(MemoryLayout<WebSocketParser>.size <= 48)
        var parser = WebSocketParser(role: .server, maxMessageBytes: 100)
        var states: [Bool] = []
        for piece in [
            Array(frame(0x01, "ab").prefix(3)), Array(frame(0x01, "ab").dropFirst(3)), frame(0x80, "c"),
            frame(0x81, "d"),
        ] {
            try withExactMemory(piece) { memory in
                var input = memory
                while try parser.next(&input) != nil {}
            }
            states.append(parser.isInMessage)
        }
        #expect(states == [true, true, false, false])
    }

    /// Each piece brings the parser into the next state of the table.
    @Test("The states match the table")
    func itsStatesAreThoseOfTheTable() throws {
        var parser = WebSocketParser(role: .server, maxMessageBytes: 100)
        let pieces: [(bytes: [UInt8], events: [String], isInMessage: Bool, state: String)] = [
            (frame(0x81, "ab"), ["ab"], false, "idle"),
            (Array(frame(0x81, "ab").prefix(1)), [], true, "in header"),
            (Array(frame(0x81, "ab").dropFirst()), ["ab"], false, "idle: the rest lies whole in the input"),
            (Array(frame(0x89, "ping").prefix(7)), [], true, "in payload"),
            (Array(frame(0x89, "ping").dropFirst(7)), ["ping ping"], false, "handed out, then idle"),
            (frame(0x01, "c"), ["fragment"], true, "at frame"),
            (frame(0x8A, "d"), ["pong d"], true, "at frame, as before"),
            (Array(frame(0x89, "e").prefix(4)), [], true, "in header"),
            (Array(frame(0x89, "e").dropFirst(4).prefix(2)), [], true, "in payload"),
            (Array(frame(0x89, "e").dropFirst(6)), ["ping e"], true, "handed out, then at frame"),
            (frame(0x80, "f"), ["cf"], false, "handed out, then idle"),
            (frame(0x88, [0x03, 0xE8]) + frame(0x81, "g"), ["close"], false, "ended"),
            (frame(0x81, "h"), [], false, "ended"),
        ]
        for piece in pieces {
            var events: [String] = []
            try withExactMemory(piece.bytes) { memory in
                var input = memory
                while let event = try parser.next(&input) {
                    switch event {
                    case .message(_, _, let payload): events.append(String(decoding: payload, as: UTF8.self))
                    case .fragment: events.append("fragment")
                    case .ping(let payload): events.append("ping \(String(decoding: payload, as: UTF8.self))")
                    case .pong(let payload): events.append("pong \(String(decoding: payload, as: UTF8.self))")
                    case .close: events.append("close")
                    }
                }
                #expect(input.isEmpty)
            }
            let isInMessage = parser.isInMessage
            #expect(events == piece.events && isInMessage == piece.isInMessage, "\(piece.state)")
        }
    }

    @Test("Memory grows with received bytes, not with the announced length")
    func memoryGrowsAsBytesArriveAndNotByTheAnnouncedLength() {
        var buffer = GatheringBuffer()
        for count in 1...1000 {
            let isKept = withExactMemory([UInt8(count & 255)]) {
                buffer.append(UnsafeRawBufferPointer($0), atMost: 1 << 30)
            }
            let (kept, capacity) = (buffer.count, buffer.capacity)
            #expect(isKept && kept == count && capacity <= 2 * count)
        }
        let bytes = Array(buffer.bytes)
        #expect(bytes == (1...1000).map { UInt8($0 & 255) })
    }

    @Test("The text of a compressed message isn't checked")
    func compressedMessageIsMarked() throws {
        let bytes = frame(0xC1, [0xFF]) + frame(0x41, [0xFE]) + frame(0x89) + frame(0x80, [0xFD]) + frame(0xC2, [1])
        for pieces in arrivals(of: bytes) {
            var parser = WebSocketParser(role: .server, maxMessageBytes: 100, allowsCompressed: true)
            var messages: [[UInt8]] = []
            for piece in pieces {
                try withExactMemory(piece) { memory in
                    var input = memory
                    while let event = try parser.next(&input) {
                        if case .message(_, true, let payload) = event { messages.append(Array(payload)) }
                    }
                }
            }
            #expect(messages == [[0xFF], [0xFE, 0xFD], [1]], "\(pieces.map(\.count))")
        }
    }
    @Test("Nothing follows an error")
    func anErrorIsTheLastThing() throws {
        var parser = WebSocketParser(role: .server, maxMessageBytes: 100)
        withExactMemory(frame(0x83, "a")) { memory in
            var input = memory
            #expect(throws: WebSocketError.reservedOpcode) { _ = try parser.next(&input) }
        }
        try withExactMemory(frame(0x81, "a")) { memory in
            var input = memory
            let event = try parser.next(&input)
            #expect(event == nil && input.isEmpty)
        }
    }
}
