@testable import Wire

/// Lengths and their encodings (RFC 6455 §5.2), the examples of §5.7, and masks (§5.1, §5.3).
extension ConformanceCase {
    private static let hello = Array("Hello".utf8)
    private static let payloadLength = "RFC 6455 §5.2"

    @CaseList static var framing: [ConformanceCase] {
        reads(
            "RFC 6455 §5.7", "a single-frame unmasked text message", .init(hex: "81 05 48 65 6c 6c 6f"),
            [.text(hello)], role: .client)
        reads(
            "RFC 6455 §5.7", "a single-frame masked text message",
            .init(hex: "81 85 37 fa 21 3d 7f 9f 4d 51 58"), [.text(hello)])
        reads(
            "RFC 6455 §5.7", "a fragmented unmasked text message", .init(hex: "01 03 48 65 6c 80 02 6c 6f"),
            [.text(hello)], role: .client)
        reads(
            "RFC 6455 §5.7", "an unmasked ping request", .init(hex: "89 05 48 65 6c 6c 6f"), [.ping(hello)],
            role: .client)
        reads(
            "RFC 6455 §5.7", "a masked ping response", .init(hex: "8a 85 37 fa 21 3d 7f 9f 4d 51 58"),
            [.pong(hello)])
        reads(
            "RFC 6455 §5.7", "256 bytes of binary data in a single unmasked frame",
            [0x82, 0x7E, 0x01, 0x00] + pattern(256), [.binary(pattern(256))], role: .client)
        reads(
            "RFC 6455 §5.7", "64 KiB of binary data in a single unmasked frame",
            [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + pattern(65_536), [.binary(pattern(65_536))], role: .client)
        reads(
            payloadLength, "messages one after the other",
            frame(0x82, pattern(300)) + frame(0x81, "a") + frame(0x82) + frame(0x89) + frame(0x81),
            [.binary(pattern(300)), .text([0x61]), .binary([]), .ping([]), .text([])])
        reads(payloadLength, "nothing at all", [], [])
        reads(payloadLength, "a header without its end", [0x81], [])
        reads(payloadLength, "a frame without its last byte", frame(0x81, "Hello").dropLast(), [])
        lengths
        overlongLengths
    }

    @CaseList private static var lengths: [ConformanceCase] {
        for length in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 124, 125, 126, 127, 128, 255, 256, 1023, 4096] {
            reads(payloadLength, "binary of \(length) bytes", frame(0x82, pattern(length)), [.binary(pattern(length))])
            reads(
                payloadLength, "text of \(length) bytes to a client", frame(0x81, letters(length), mask: nil),
                [.text(letters(length))], role: .client)
        }
        for length in [65_535, 65_536] {
            reads(payloadLength, "binary of \(length) bytes", frame(0x82, pattern(length)), [.binary(pattern(length))])
        }
    }

    @CaseList private static var overlongLengths: [ConformanceCase] {
        for length in [0, 1, 124, 125] {
            fails(
                payloadLength, "\(length) in two bytes", frame(0x82, pattern(length), lengthBytes: 2), shownBy: 4)
        }
        for length in [0, 1, 125, 126, 255] {
            fails(
                payloadLength, "\(length) in eight bytes", frame(0x82, pattern(length), lengthBytes: 8), shownBy: 10)
        }
        fails(
            payloadLength, "65535 in eight bytes", [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], shownBy: 10)
        fails(
            payloadLength, "2^63, whose highest bit is set", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0],
            shownBy: 10)
        fails(
            payloadLength, "2^64 - 1", [0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 8), shownBy: 10)
        fails(
            payloadLength, "an overlong length to a client", [0x81, 0x7E, 0x00, 0x05], shownBy: 4, role: .client)
        fails(
            payloadLength, "an overlong length of a continuation", frame(0x01, "a") + [0x80, 0xFE, 0x00, 0x7D],
            shownBy: 11)
    }

    @CaseList static var masking: [ConformanceCase] {
        for first: UInt8 in [0x81, 0x82, 0x88, 0x89, 0x8A, 0x01, 0x02] {
            fails("RFC 6455 §5.1", "\(first) unmasked to a server", [first, 0x02], shownBy: 2)
            fails("RFC 6455 §5.1", "\(first) masked to a client", [first, 0x82], shownBy: 2, role: .client)
        }
        fails("RFC 6455 §5.1", "an unmasked continuation", frame(0x01, "a") + [0x80, 0x01], shownBy: 9)
        fails("RFC 6455 §5.1", "an empty frame without a mask", [0x81, 0x00], shownBy: 2)
        reads("RFC 6455 §5.3", "an empty frame with a mask", [0x81, 0x80, 1, 2, 3, 4], [.text([])])
        for mask: [UInt8] in [
            [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [1, 2, 3, 4], [0x80, 0, 0, 0], [0, 0, 0, 0x80],
        ] {
            reads(
                "RFC 6455 §5.3", "the mask \(mask)", frame(0x82, pattern(21), mask: mask), [.binary(pattern(21))])
        }
        reads(
            "RFC 6455 §5.3", "a new mask for each fragment, none of whose lengths is a multiple of four",
            frame(0x02, pattern(7), mask: [1, 2, 3, 4]) + frame(0x00, pattern(5), mask: [9, 8, 7, 6])
                + frame(0x80, pattern(3), mask: [0xA0, 0xB1, 0xC2, 0xD3]),
            [.binary(pattern(7) + pattern(5) + pattern(3))])
    }
}
