@testable import Wire

/// Cases of permessage-deflate that must be accepted (RFC 7692 §7.2).
extension ConformanceCase {
    private static let rule = "RFC 7692 §7.2.2"
    private static let hello = Array("Hello".utf8)
    private static let ale = Array(#"{"type":"ale"}"#.utf8)
    private static let bottles = (0..<12).flatMap { Array("\($0) bottles of ale on the wall, ".utf8) }

    /// Both sides keep their contexts.
    static let takeover = WebSocketDeflateParameters()

    /// Neither side keeps its context.
    static let noTakeover: WebSocketDeflateParameters = {
        var parameters = WebSocketDeflateParameters()
        parameters.serverNoContextTakeover = true
        parameters.clientNoContextTakeover = true
        return parameters
    }()

    private static func window(_ bits: UInt8) -> WebSocketDeflateParameters {
        var parameters = WebSocketDeflateParameters()
        parameters.clientMaxWindowBits = bits
        return parameters
    }

    /// Returns a case with context takeover, and the same case without.
    private static func both(_ section: String, _ name: String, _ bytes: [UInt8], _ events: [Event])
        -> [ConformanceCase]
    {
        [
            reads(section, "\(name), windows kept", bytes, events, compression: takeover),
            reads(section, "\(name), windows dropped", bytes, events, compression: noTakeover),
        ]
    }

    @CaseList static var compression: [ConformanceCase] {
        examples
        streams
        sizes
        windows
        mixtures
    }

    @CaseList private static var examples: [ConformanceCase] {
        both("RFC 7692 §7.2.3.1", "one block", frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")), [.text(hello)])
        both(
            "RFC 7692 §7.2.3.1", "one block in two fragments",
            frame(0x41, .init(hex: "f2 48 cd")) + frame(0x80, .init(hex: "c9 c9 07 00")), [.text(hello)])
        reads(
            "RFC 7692 §7.2.3.2", "sharing the window",
            frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")) + frame(0xC1, .init(hex: "f2 00 11 00 00")),
            [.text(hello), .text(hello)], compression: takeover)
        reads(
            "RFC 7692 §7.2.3.2", "not sharing the window",
            frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")) + frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")),
            [.text(hello), .text(hello)], compression: noTakeover)
        both(
            "RFC 7692 §7.2.3.3", "a block without compression",
            frame(0xC1, .init(hex: "00 05 00 fa ff 48 65 6c 6c 6f 00")), [.text(hello)])
        both(
            "RFC 7692 §7.2.3.4", "a block with BFINAL", frame(0xC1, .init(hex: "f3 48 cd c9 c9 07 00 00")),
            [.text(hello)])
        both(
            "RFC 7692 §7.2.3.5", "two blocks", frame(0xC1, .init(hex: "f2 48 05 00 00 00 ff ff ca c9 c9 07 00")),
            [.text(hello)])
        both("RFC 7692 §7.2.3.6", "an empty message", frame(0xC1, [0x00]), [.text([])])
        both(
            "RFC 7692 §7.2.3.6", "empty messages, one after the other",
            frame(0xC1, [0x00]) + frame(0xC2, [0x00]) + frame(0xC1, [0x00]), [.text([]), .binary([]), .text([])])
    }

    @CaseList private static var streams: [ConformanceCase] {
        both(
            rule, "dynamic codes",
            frame(
                0xC1,
                .init(
                    hex: """
                        32 50 48 ca 2f 29 c9 49 2d 56 c8 4f 53 48 cc 49 55 c8 cf 53 28 c9 48 55 28 4f cc c9 d1 51 30 c4 2b \
                        6b 84 57 d6 18 af ac 09 5e 59 53 bc b2 66 78 65 cd f1 ca 5a e0 95 b5 c4 1f 1a 06 f8 a5 f1 87 16 00
                        """)), [.text(bottles)])
        both(
            rule, "all bytes as literals", frame(0xC2, TestDeflate().fixed((0...255).map { .literal($0) }).message),
            [.binary(Array(0...255))])
        both(
            rule, "a block of each kind",
            frame(0xC1, TestDeflate().stored(Array("ab".utf8)).text("cd").stored([]).text("").text("ef").message),
            [.text(Array("abcdef".utf8))])
        both(
            "RFC 7692 §7.2.3.4", "BFINAL on several blocks",
            frame(0xC1, TestDeflate().text("ab", isFinal: true).stored([0x63], isFinal: true).text("de").message),
            [.text(Array("abcde".utf8))])
        both(
            "RFC 7692 §7.2.3.4", "what follows a block with BFINAL may refer to it",
            frame(
                0xC1,
                TestDeflate().text("Hello", isFinal: true).fixed([.match(length: 5, distance: 5)]).message),
            [.text(hello + hello)])
        reads(
            "RFC 7692 §7.2.3.4", "what follows a message with BFINAL may refer to it",
            frame(0xC1, TestDeflate().text("Hello", isFinal: true).message)
                + frame(0xC1, TestDeflate().fixed([.match(length: 5, distance: 5)]).message),
            [.text(hello), .text(hello)], compression: takeover)
        reads(
            "RFC 7692 §7.1.1.2", "three equal messages, each shorter than the one before",
            frame(0xC1, .init(hex: "aa 56 2a a9 2c 48 55 b2 52 4a cc 49 55 aa 05 00"))
                + frame(0xC1, .init(hex: "aa 46 e1 01 00")) + frame(0xC1, .init(hex: "42 e5 01 00")),
            [.text(ale), .text(ale), .text(ale)], compression: takeover)
        reads(
            rule, "plain messages leave the window alone",
            frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")) + frame(0x81, "World")
                + frame(0xC1, .init(hex: "f2 00 11 00 00")),
            [.text(hello), .text(Array("World".utf8)), .text(hello)], compression: takeover)
        both(
            rule, "a reference that overlaps itself",
            frame(0xC1, TestDeflate().fixed([.literal(0x61), .match(length: 258, distance: 1)]).message),
            [.text([UInt8](repeating: 0x61, count: 259))])
        both(
            rule, "empty blocks only", frame(0xC2, TestDeflate().stored([]).stored([]).fixed([]).message), [.binary([])]
        )
    }

    @CaseList private static var sizes: [ConformanceCase] {
        for length in [1, 2, 124, 125, 126, 127, 1000, 1023, 1024, 1025, 5000] {
            both(
                rule, "\(length) bytes that are stored", frame(0xC2, TestDeflate().stored(pattern(length)).message),
                [.binary(pattern(length))])
        }
    }

    /// Cases of references at the largest distance of each window size.
    @CaseList private static var windows: [ConformanceCase] {
        for bits in UInt8(8)...15 {
            let size = 1 << Int(bits)
            let filler = TestDeflate().stored(pattern(size))
            reads(
                "RFC 7692 §7.1.2.2", "a window of \(bits) bits to its end",
                frame(0xC2, filler.message)
                    + frame(0xC2, TestDeflate().fixed([.match(length: 10, distance: size)]).message),
                [.binary(pattern(size)), .binary(Array(pattern(size).prefix(10)))], compression: window(bits))
        }
    }

    @CaseList private static var mixtures: [ConformanceCase] {
        both(
            "RFC 7692 §6.1", "plain messages beside compressed ones",
            frame(0x81, "a") + frame(0xC1, [0x00]) + frame(0x02, "b") + frame(0x80, "c")
                + frame(0xC2, .init(hex: "f2 48 cd c9 c9 07 00")),
            [.text([0x61]), .text([]), .binary(Array("bc".utf8)), .binary(hello)])
        both(
            "RFC 7692 §6.2", "a compressed message, a byte a fragment, with pings between them",
            frame(0x41, [0xF2]) + [0x48, 0xCD, 0xC9, 0xC9, 0x07].flatMap { frame(0x00, [$0]) + frame(0x89) }
                + frame(0x80, [0x00]),
            [Event](repeating: .ping([]), count: 5) + [.text(hello)])
        both(
            "RFC 7692 §6.2", "empty fragments of a compressed message",
            frame(0x41) + frame(0x00, .init(hex: "f2 48 cd c9")) + frame(0x00)
                + frame(0x00, .init(hex: "c9 07 00")) + frame(0x80), [.text(hello)])
        both(
            "RFC 7692 §6.1", "control frames are not compressed",
            frame(0xC1, [0x00]) + frame(0x89, .init(hex: "f2 48")) + frame(0x88, [0x03, 0xE8, 0x62]),
            [.text([]), .ping([0xF2, 0x48]), .close(1000, "b")])
        for sample in UTF8Samples.valid.filter({ $0.bytes.count > 1 }) {
            reads(
                rule, "\(sample.name), compressed",
                frame(0xC1, TestDeflate().fixed(sample.bytes.map { .literal($0) }).message), [.text(sample.bytes)],
                compression: noTakeover)
        }
    }
}
