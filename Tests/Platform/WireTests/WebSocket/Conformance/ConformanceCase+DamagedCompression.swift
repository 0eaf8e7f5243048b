@testable import Wire

/// Cases of permessage-deflate that are refused (RFC 7692), and the events before that.
extension ConformanceCase {
    private static let notDeflate = "RFC 7692 §7.2"
    private static let truncated = "RFC 7692 §7.2.1"
    private static let hello = Array("Hello".utf8)

    private static func corrupt(
        _ name: String, _ payload: [UInt8], rule: String = notDeflate,
        compression: WebSocketDeflateParameters = takeover
    ) -> ConformanceCase {
        fails(rule, name, frame(0xC2, payload), with: 1007, compression: compression)
    }

    @CaseList static var damagedCompression: [ConformanceCase] {
        corruptions
        truncations
        texts
        contexts
        bombs
    }

    @CaseList private static var corruptions: [ConformanceCase] {
        corrupt("a block of the reserved kind", [0x06])
        corrupt("a block of the reserved kind after a good one", TestDeflate().stored([1]).bytes + [0x06])
        corrupt("a length that its complement denies", [0x00, 0x05, 0x00, 0xFA, 0xFE] + hello + [0x00])
        corrupt("a length without complement", [0x00, 0x05, 0x00, 0x00, 0x00] + hello + [0x00])
        corrupt(
            "a reference to before the beginning", TestDeflate().fixed([.match(length: 3, distance: 1)]).message)
        corrupt(
            "a reference to a byte before the beginning",
            TestDeflate().fixed([.literal(1), .match(length: 3, distance: 2)]).message)
        corrupt(
            "a reference to 32 KB before the beginning",
            TestDeflate().fixed([.literal(1), .match(length: 3, distance: 32_768)]).message)
        corrupt("the literal code 286", TestDeflate().fixed([.codes(286)]).message)
        corrupt("the literal code 287", TestDeflate().fixed([.codes(287)]).message)
        corrupt("the distance code 30", TestDeflate().fixed([.literal(1), .codes(257, distance: 30)]).message)
        corrupt("the distance code 31", TestDeflate().fixed([.literal(1), .codes(257, distance: 31)]).message)
        // RFC 1951 §3.2.7: HLIT 31, which stands for 288 codes.
        corrupt("dynamic codes with too many symbols", [0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        corrupt("dynamic codes without any length", [0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00])
        corrupt("a zlib header", .init(hex: "78 9c f2 48 cd c9 c9 07 00"))
        corrupt("a gzip header", .init(hex: "1f 8b 08 00 00 00 00 00 00 03 f2 48 cd c9 c9 07 00"))
        corrupt("text that nobody compressed", Array("Hello, World".utf8))
        fails(
            notDeflate, "fragments of which the second is no DEFLATE",
            frame(0x42, .init(hex: "f2 48")) + frame(0x80, "?!"),
            with: 1007, compression: takeover)
        fails(
            notDeflate, "a bad message after a good one",
            frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")) + frame(0xC2, [0x06]),
            with: 1007, after: [.text(hello)], compression: takeover)
    }

    @CaseList private static var truncations: [ConformanceCase] {
        for count in 0...6 {
            corrupt(
                "Hello, of which \(count) of 7 bytes came", Array([UInt8](hex: "f2 48 cd c9 c9 07 00").prefix(count)),
                rule: notDeflate)
        }
        corrupt("no byte at all, which is not how an empty message is sent", [], rule: truncated)
        corrupt("the four bytes were not left off", TestDeflate().text("Hello").message + [0, 0, 0xFF, 0xFF])
        corrupt("a stored block that lacks a byte", [0x00, 0x05, 0x00, 0xFA, 0xFF] + hello.dropLast())
        corrupt("a block with BFINAL without the empty block after it", .init(hex: "f3 48 cd c9 c9 07 00"))
        corrupt("a block without its end", TestDeflate().fixed(hello.map { .literal($0) }, isEnded: false).message)
    }

    @CaseList private static var texts: [ConformanceCase] {
        for sample in UTF8Samples.invalid {
            fails(
                "RFC 6455 §8.1", "\(sample.name), compressed", frame(0xC1, TestDeflate().stored(sample.bytes).message),
                with: 1007, compression: noTakeover)
        }
    }

    @CaseList private static var contexts: [ConformanceCase] {
        fails(
            notDeflate, "a message refers to the one before, where that was agreed not to be",
            frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")) + frame(0xC1, .init(hex: "f2 00 11 00 00")), with: 1007,
            after: [.text(hello)], compression: noTakeover)
        fails(
            "RFC 6455 §5.2", "a compressed message, where nothing was agreed on",
            frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00")), shownBy: 1)
        fails(
            "RFC 6455 §5.2", "a compressed message to a client that did not ask for it",
            frame(0xC1, .init(hex: "f2 48 cd c9 c9 07 00"), mask: nil), shownBy: 1, role: .client)
    }

    private static let many = [TestDeflate.Symbol](repeating: .match(length: 258, distance: 1), count: 2000)

    @CaseList private static var bombs: [ConformanceCase] {
        for agreed in [takeover, noTakeover] {
            let kind = agreed == takeover ? "windows kept" : "windows dropped"
            reads(
                "RFC 6455 §10.4", "a compressed message that fills its limit, \(kind)",
                frame(0xC1, TestDeflate().stored(letters(200)).message), [.text(letters(200))], limit: 200,
                compression: agreed)
            reads(
                "RFC 6455 §10.4", "fragments that fill their limit, and are longer for being compressed, \(kind)",
                frame(0x42, Array(TestDeflate().stored(letters(200)).message.prefix(203)))
                    + frame(0x80, Array(TestDeflate().stored(letters(200)).message.dropFirst(203))),
                [.binary(letters(200))], limit: 200, compression: agreed)
            fails(
                "RFC 6455 §10.4", "a compressed message of a byte more, \(kind)",
                frame(0xC1, TestDeflate().stored(letters(201)).message), with: 1009, limit: 200, compression: agreed
            )
            fails(
                "RFC 6455 §10.4", "half a megabyte from 2 KB, \(kind)",
                frame(0xC2, TestDeflate().fixed([.literal(0)] + many).message), with: 1009, limit: 4096,
                compression: agreed)
            fails(
                "RFC 6455 §10.4", "half a megabyte, damaged behind the limit, \(kind)",
                frame(0xC2, TestDeflate().fixed([.literal(0)] + many + [.codes(286)]).message), with: 1009,
                limit: 4096,
                compression: agreed)
            fails(
                "RFC 6455 §10.4", "a bomb behind a block with BFINAL, \(kind)",
                frame(
                    0xC2,
                    TestDeflate().text("a", isFinal: true).fixed([.match(length: 258, distance: 1)]).message),
                with: 1009, limit: 200, compression: agreed)
            fails(
                "RFC 6455 §10.4", "a message padded with empty blocks, \(kind)",
                frame(0xC2, (0..<60).reduce(TestDeflate()) { blocks, _ in blocks.stored([]) }.message), with: 1009,
                shownBy: 4, limit: 200, compression: agreed)
            reads(
                "RFC 6455 §10.4", "an empty compressed message where nothing else is allowed, \(kind)",
                frame(0xC1, [0x00]), [.text([])], limit: 0, compression: agreed)
            fails(
                "RFC 6455 §10.4", "a compressed byte where nothing is allowed, \(kind)",
                frame(0xC1, TestDeflate().text("a").message), with: 1009, limit: 0, compression: agreed)
        }
    }
}
