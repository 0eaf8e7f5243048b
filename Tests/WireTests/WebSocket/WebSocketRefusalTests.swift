import Testing

@testable import Wire

@Suite struct WebSocketRefusalTests {
    struct Refusal: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let error: WebSocketError
        var code: UInt16 = 1002
        var role = WebSocketRole.server
        var allowsCompressed = false
        /// Events before the error.
        var events = 0
        var testDescription: String { name }
    }

    private static func close(_ payload: [UInt8]) -> [UInt8] { frame(0x88, payload) }
    private static func close(code: UInt16) -> [UInt8] { close([UInt8(code >> 8), UInt8(code & 255)]) }

    static let framing: [Refusal] = [
        Refusal(name: "RSV1", bytes: [0xC1], error: .reservedBit),
        Refusal(name: "RSV2", bytes: [0xA1], error: .reservedBit),
        Refusal(name: "RSV3", bytes: [0x91], error: .reservedBit),
        Refusal(name: "RSV1 on a ping", bytes: [0xC9], error: .reservedBit, allowsCompressed: true),
        Refusal(
            name: "RSV1 on a continuation", bytes: frame(0x41, "a") + [0xC0], error: .reservedBit,
            allowsCompressed: true),
        Refusal(name: "RSV2 beside RSV1", bytes: [0xE1], error: .reservedBit, allowsCompressed: true),
        Refusal(name: "unmasked to a server", bytes: [0x81, 0x05], error: .unmasked),
        Refusal(name: "masked to a client", bytes: [0x81, 0x85], error: .masked, role: .client),
        Refusal(name: "a fragmented ping", bytes: [0x09], error: .fragmentedControl),
        Refusal(name: "a fragmented close", bytes: [0x08], error: .fragmentedControl),
        Refusal(
            name: "a fragmented pong inside of a message", bytes: frame(0x01, "a") + [0x0A], error: .fragmentedControl),
        Refusal(name: "a ping of 126 bytes", bytes: [0x89, 0xFE], error: .longControl),
        Refusal(name: "a close with an 8-byte length", bytes: [0x88, 0xFF], error: .longControl),
        Refusal(name: "125 in two bytes", bytes: frame(0x82, [1], lengthBytes: 2), error: .longLength),
        Refusal(name: "0 in two bytes", bytes: frame(0x82, [], lengthBytes: 2), error: .longLength),
        Refusal(
            name: "65535 in eight bytes",
            bytes: frame(0x82, [UInt8](repeating: 0, count: 65_535), lengthBytes: 8).prefix(20).map { $0 },
            error: .longLength),
        Refusal(name: "1 in eight bytes", bytes: frame(0x82, [1], lengthBytes: 8), error: .longLength),
        Refusal(
            name: "a length with its highest bit", bytes: [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1], error: .hugeLength),
        Refusal(
            name: "a continuation of nothing", bytes: frame(0x81, "a") + [0x80], error: .strayContinuation, events: 1),
        Refusal(
            name: "a continuation after the final fragment", bytes: frame(0x01, "a") + frame(0x80, "b") + [0x00],
            error: .strayContinuation, events: 1),
        Refusal(name: "text inside of a message", bytes: frame(0x01, "a") + [0x81], error: .interruptedMessage),
        Refusal(
            name: "binary inside of a message", bytes: frame(0x02, "a") + frame(0x89) + [0x02],
            error: .interruptedMessage,
            events: 1),
    ]

    static let opcodes: [Refusal] = [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF].flatMap { opcode -> [Refusal] in
        [0x80, 0x00].map { Refusal(name: "opcode \(opcode) \($0)", bytes: [$0 | opcode], error: .reservedOpcode) }
    }

    static let closes: [Refusal] =
        [Refusal(name: "a close with one byte", bytes: close([0x03]), error: .halfCloseCode)]
        + [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map {
            Refusal(name: "close code \($0)", bytes: close(code: $0), error: .badCloseCode)
        }
        + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0x61, 0xC0, 0xAF]].map { (reason: [UInt8]) in
            Refusal(
                name: "close reason \(reason)", bytes: close([0x03, 0xE8] + reason), error: .closeReasonNotUTF8,
                code: 1007)
        }

    static let texts: [Refusal] = [
        Refusal(name: "not UTF-8", bytes: frame(0x81, [0xFF]), error: .textNotUTF8, code: 1007),
        Refusal(name: "a surrogate", bytes: frame(0x81, [0xED, 0xA0, 0x80]), error: .textNotUTF8, code: 1007),
        Refusal(name: "an overlong slash", bytes: frame(0x81, [0xC0, 0xAF]), error: .textNotUTF8, code: 1007),
        Refusal(name: "above U+10FFFF", bytes: frame(0x81, [0xF4, 0x90, 0x80, 0x80]), error: .textNotUTF8, code: 1007),
        Refusal(
            name: "text that ends within a character", bytes: frame(0x81, [0xE2, 0x82]), error: .textNotUTF8, code: 1007
        ),
        Refusal(
            name: "fragments that end within a character", bytes: frame(0x01, "a") + frame(0x80, [0xE2]),
            error: .textNotUTF8, code: 1007),
        Refusal(
            name: "a character that is broken between fragments", bytes: frame(0x01, [0xE2]) + frame(0x00, [0x41]),
            error: .textNotUTF8, code: 1007),
    ]

    static var all: [Refusal] { framing + opcodes + closes + texts }

    @Test(arguments: all)
    func isRefusedForItsReasonInEverySplit(_ refusal: Refusal) {
        #expect(refusal.error.code.rawValue == refusal.code)
        #expect(refusal.error.reason.hasPrefix("RFC 6455 §") && refusal.error.reason.utf8.count <= 123)
        for pieces in arrivals(of: refusal.bytes, random: 5) {
            let transcript = WebSocketTranscript(pieces, role: refusal.role, allowsCompressed: refusal.allowsCompressed)
            #expect(transcript.error == refusal.error, "\(pieces.map(\.count))")
            #expect(transcript.events.count == refusal.events)
        }
    }

    @Test func badTextIsNoticedBeforeTheFrameIsWhole() {
        let text = frame(0x81, Array("κόσμε".utf8) + [0xED, 0xA0] + [UInt8](repeating: 0x61, count: 200))
        // The header has 8 bytes, the good text 11; 0xED may begin something, 0xA0 can't follow it.
        #expect(WebSocketTranscript([Array(text.prefix(18))]).error == nil)
        #expect(WebSocketTranscript([Array(text.prefix(19))]).error == nil)
        #expect(WebSocketTranscript([Array(text.prefix(20))]).error == .textNotUTF8)
        #expect(WebSocketTranscript([Array(text.prefix(19)), [text[19]]]).error == .textNotUTF8)
    }

    @Test func aMessageMayFillItsLimitAndNotMore() {
        let tooBig = WebSocketError.messageTooBig(limit: 200)
        func outcome(_ bytes: [UInt8]) -> WebSocketError? {
            let whole = WebSocketTranscript([bytes], maxMessageBytes: 200)
            for pieces in arrivals(of: bytes, random: 3) {
                #expect(WebSocketTranscript(pieces, maxMessageBytes: 200) == whole)
            }
            return whole.error
        }
        let payload = [UInt8](repeating: 0x61, count: 200)
        #expect(outcome(frame(0x81, payload)) == nil)
        #expect(outcome(frame(0x81, payload + [0x61])) == tooBig)
        #expect(outcome(frame(0x02, payload) + frame(0x80)) == nil)
        #expect(outcome(frame(0x02, payload) + frame(0x89, "a") + frame(0x80)) == nil)
        #expect(outcome(frame(0x02, payload) + frame(0x00, [1])) == tooBig)
        #expect(outcome(frame(0x02, [1]) + frame(0x80, payload)) == tooBig)
        #expect(tooBig.code.rawValue == 1009 && tooBig.reason.contains("200"))
    }

    @Test func theLimitIsCheckedAsSoonAsTheHeaderSaysTheLength() {
        // Nothing of the payload, not even the mask, has come.
        #expect(WebSocketTranscript([[0x82, 0xFE, 0x00, 0xC9]], maxMessageBytes: 200).error?.code == .messageTooBig)
        #expect(
            WebSocketTranscript([[0x82, 0xFF, 0x7F, 255, 255, 255, 255, 255, 255, 255]], maxMessageBytes: .max - 1)
                .error?
                .code == .messageTooBig)
        #expect(WebSocketTranscript([[0x82, 0x81]], maxMessageBytes: 0).error?.code == .messageTooBig)
    }

    @Test func anErrorIsTheLastThing() throws {
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
