import Testing

@testable import Wire

@Suite struct WebSocketParserTests {
    typealias Event = WebSocketTranscript.Event

    struct Stream: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let events: [Event]
        var role = WebSocketRole.server
        var testDescription: String { name }
    }

    private static let hello = Array("Hello".utf8)
    private static let long = (0..<300).map { UInt8($0 % 251) }

    static let streams: [Stream] = [
        // RFC 6455 §5.7.
        Stream(
            name: "a single-frame unmasked text message", bytes: .init(hex: "81 05 48 65 6c 6c 6f"),
            events: [.text(hello)],
            role: .client),
        Stream(
            name: "a single-frame masked text message", bytes: .init(hex: "81 85 37 fa 21 3d 7f 9f 4d 51 58"),
            events: [.text(hello)]),
        Stream(
            name: "a fragmented unmasked text message", bytes: .init(hex: "01 03 48 65 6c 80 02 6c 6f"),
            events: [.text(hello)], role: .client),
        Stream(
            name: "an unmasked ping", bytes: .init(hex: "89 05 48 65 6c 6c 6f"), events: [.ping(hello)], role: .client),
        Stream(
            name: "a masked pong", bytes: .init(hex: "8a 85 37 fa 21 3d 7f 9f 4d 51 58"), events: [.pong(hello)]),
        Stream(
            name: "256 bytes binary", bytes: [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256),
            events: [.binary([UInt8](repeating: 7, count: 256))], role: .client),
        // Beyond it.
        Stream(
            name: "messages one after the other",
            bytes: frame(0x82, long) + frame(0x81, "a") + frame(0x82) + frame(0x89),
            events: [.binary(long), .text([0x61]), .binary([]), .ping([])]),
        Stream(
            name: "fragments, empty ones too", bytes: frame(0x02) + frame(0x00) + frame(0x00, long) + frame(0x80),
            events: [.binary(long)]),
        Stream(
            name: "control frames between fragments",
            bytes: frame(0x01, "a") + frame(0x89, "x") + frame(0x00, "b") + frame(0x8A, "yz") + frame(0x89)
                + frame(0x80, "c") + frame(0x81, "d"),
            events: [.ping([0x78]), .pong(Array("yz".utf8)), .ping([]), .text(Array("abc".utf8)), .text([0x64])]),
        Stream(
            name: "text that is split inside of a character",
            bytes: frame(0x01, [0xE2]) + frame(0x00, [0x82]) + frame(0x89) + frame(0x80, [0xAC]),
            events: [.ping([]), .text([0xE2, 0x82, 0xAC])]),
        Stream(name: "a close without a code", bytes: frame(0x88), events: [.close(nil, "")]),
        Stream(name: "a close with a code", bytes: frame(0x88, [0x03, 0xE8]), events: [.close(1000, "")]),
        Stream(
            name: "a close with a reason inside of a message, and what follows it",
            bytes: frame(0x01, "a") + frame(0x88, [0x0F, 0xA0] + Array("bye, ä".utf8)) + [0xFF, 0xFF, 0xFF],
            events: [.close(4000, "bye, ä")]),
        Stream(
            name: "the longest control frame", bytes: frame(0x89, [UInt8](repeating: 1, count: 125)),
            events: [.ping([UInt8](repeating: 1, count: 125))]),
    ]

    @Test(arguments: streams)
    func everySplitGivesTheSameEvents(_ stream: Stream) {
        for pieces in arrivals(of: stream.bytes) {
            let transcript = WebSocketTranscript(pieces, role: stream.role)
            #expect(transcript.events == stream.events, "\(pieces.map(\.count))")
            #expect(transcript.error == nil)
        }
    }

    @Test func a64KiBMessageHasAnEightByteLength() {
        let payload = [UInt8](repeating: 9, count: 65_536)
        let unmasked: [UInt8] = [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + payload
        #expect(WebSocketTranscript([unmasked], role: .client).events == [.binary(payload)])
        let bytes = frame(0x82, payload)
        for cut in [1, 2, 9, 13, 14, 15, 40_000, 65_549] {
            let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
            #expect(WebSocketTranscript(pieces).events == [.binary(payload)])
        }
    }

    @Test(arguments: 0...17)
    func unmaskingDoesNotDependOnWhereThePayloadLies(_ start: Int) {
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

    @Test func aWholeMessageIsASliceOfTheInput() throws {
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

    @Test func theParserIsSmallAndHoldsNothingWhenIdle() throws {
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

    @Test func memoryGrowsAsBytesArriveAndNotByTheAnnouncedLength() {
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

    @Test func aCompressedMessageIsMarkedAndItsTextLeftUnchecked() {
        let bytes = frame(0xC1, [0xFF]) + frame(0x41, [0xFE]) + frame(0x89) + frame(0x80, [0xFD]) + frame(0xC2, [1])
        for pieces in arrivals(of: bytes) {
            let transcript = WebSocketTranscript(pieces, allowsCompressed: true)
            #expect(transcript.error == nil)
            #expect(
                transcript.events == [
                    .compressed(.text, [0xFF]), .ping([]), .compressed(.text, [0xFE, 0xFD]), .compressed(.binary, [1]),
                ])
        }
    }
}
