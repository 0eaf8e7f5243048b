@testable import Wire

/// Messages in several frames (RFC 6455 §5.4).
extension ConformanceCase {
    private static let rule = "RFC 6455 §5.4"

    @CaseList static var fragmentation: [ConformanceCase] {
        for count in 2...9 {
            let pieces = (0..<count).map { letters(($0 * 5) % 11) }
            let frames = pieces.enumerated().flatMap { place, piece in
                frame((place == 0 ? 0x1 : 0x0) | (place == count - 1 ? 0x80 : 0), piece)
            }
            reads(rule, "text in \(count) frames", frames, [.text(pieces.flatMap(\.self))])
        }
        for length in [0, 1, 124, 125, 126, 127, 300] {
            reads(
                rule, "a first fragment of \(length) bytes", frame(0x02, pattern(length)) + frame(0x80, "z"),
                [.binary(pattern(length) + [0x7A])])
            reads(
                rule, "a last fragment of \(length) bytes", frame(0x02, "a") + frame(0x80, pattern(length)),
                [.binary([0x61] + pattern(length))])
        }
        wholes
        mixed
        strays
        interruptions
    }

    @CaseList private static var wholes: [ConformanceCase] {
        reads(rule, "two empty fragments", frame(0x01) + frame(0x80), [.text([])])
        reads(
            rule, "only the middle fragment holds something",
            frame(0x02) + frame(0x00) + frame(0x00, pattern(40)) + frame(0x00) + frame(0x80), [.binary(pattern(40))]
        )
        reads(
            rule, "a hundred fragments of a byte",
            frame(0x02, [0]) + (1..<99).flatMap { frame(0x00, [UInt8($0)]) } + frame(0x80, [99]),
            [.binary((0..<100).map { UInt8($0) })])
        reads(
            rule, "two fragmented messages and a whole one between them",
            frame(0x01, "a") + frame(0x80, "b") + frame(0x82, "c") + frame(0x02, "d") + frame(0x80, "e"),
            [.text(Array("ab".utf8)), .binary([0x63]), .binary(Array("de".utf8))])
        reads(rule, "a message that has not ended", frame(0x01, "a") + frame(0x00, "b"), [])
        reads(
            rule, "a fragmented message to a client",
            frame(0x02, pattern(3), mask: nil) + frame(0x80, pattern(4), mask: nil),
            [.binary(pattern(3) + pattern(4))], role: .client)
    }

    @CaseList private static var mixed: [ConformanceCase] {
        reads(
            rule, "a ping between fragments", frame(0x01, "a") + frame(0x89, "p") + frame(0x80, "b"),
            [.ping([0x70]), .text(Array("ab".utf8))])
        reads(
            rule, "a pong between fragments", frame(0x02, "a") + frame(0x8A, "p") + frame(0x80, "b"),
            [.pong([0x70]), .binary(Array("ab".utf8))])
        reads(
            rule, "several control frames between fragments",
            frame(0x01, "a") + frame(0x89, "x") + frame(0x00, "b") + frame(0x8A, "yz") + frame(0x89)
                + frame(0x80, "c") + frame(0x81, "d"),
            [.ping([0x78]), .pong(Array("yz".utf8)), .ping([]), .text(Array("abc".utf8)), .text([0x64])])
        reads(
            rule, "a control frame of full length between fragments",
            frame(0x02, pattern(60)) + frame(0x89, pattern(125)) + frame(0x80, pattern(60)),
            [.ping(pattern(125)), .binary(pattern(60) + pattern(60))])
        reads(
            rule, "a ping before the first and after the last fragment",
            frame(0x89, "1") + frame(0x01, "a") + frame(0x80, "b") + frame(0x89, "2"),
            [.ping([0x31]), .text(Array("ab".utf8)), .ping([0x32])])
        reads(
            rule, "a close between fragments", frame(0x01, "a") + frame(0x88, [0x03, 0xE8]) + frame(0x80, "b"),
            [.close(1000, "")])
        reads(
            rule, "a ping between fragments to a client",
            frame(0x01, [0x61], mask: nil) + frame(0x89, [], mask: nil) + frame(0x80, [0x62], mask: nil),
            [.ping([]), .text(Array("ab".utf8))], role: .client)
    }

    @CaseList private static var strays: [ConformanceCase] {
        for first: UInt8 in [0x00, 0x80] {
            fails(rule, "a continuation (\(first)) of nothing", [first], shownBy: 1)
            fails(rule, "a continuation (\(first)) to a client", [first], shownBy: 1, role: .client)
            fails(
                rule, "a continuation (\(first)) after a whole message", frame(0x81, "a") + [first],
                after: [.text([0x61])], shownBy: 8)
            fails(
                rule, "a continuation (\(first)) after the final fragment",
                frame(0x01, "a") + frame(0x80, "b") + [first], after: [.text(Array("ab".utf8))], shownBy: 15)
            fails(
                rule, "a continuation (\(first)) after a ping", frame(0x89) + [first], after: [.ping([])],
                shownBy: 7)
        }
    }

    @CaseList private static var interruptions: [ConformanceCase] {
        for begun: UInt8 in [0x01, 0x02] {
            for first: UInt8 in [0x81, 0x82, 0x01, 0x02] {
                fails(
                    rule, "a new message (\(first)) in a message (\(begun))", frame(begun, "a") + [first], shownBy: 8)
            }
        }
        fails(
            rule, "a new message after a ping between fragments", frame(0x01, "a") + frame(0x89) + [0x81],
            after: [.ping([])], shownBy: 14)
        fails(
            rule, "a new message after a continuation", frame(0x01, "a") + frame(0x00, "b") + [0x82], shownBy: 15)
    }
}
