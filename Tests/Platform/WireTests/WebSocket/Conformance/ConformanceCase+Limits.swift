@testable import Wire

/// Limits of a message's size (RFC 6455 §10.4). The parser reports an excess as soon as a header shows it.
extension ConformanceCase {
    private static let rule = "RFC 6455 §10.4"
    private static let full = letters(200)

    @CaseList static var limits: [ConformanceCase] {
        reads(rule, "a message that fills its limit", frame(0x81, full), [.text(full)], limit: 200)
        fails(rule, "a byte more", frame(0x81, full + [0x61]), with: 1009, shownBy: 4, limit: 200)
        reads(rule, "fragments that fill it", frame(0x02, full) + frame(0x80), [.binary(full)], limit: 200)
        reads(
            rule, "a ping counts for itself",
            frame(0x02, full) + frame(0x89, full.prefix(125).map(\.self)) + frame(0x80),
            [.ping(Array(full.prefix(125))), .binary(full)], limit: 200)
        fails(
            rule, "a fragment of a byte more", frame(0x02, full) + frame(0x00, [1]), with: 1009, shownBy: 210,
            limit: 200)
        fails(
            rule, "a last fragment that is too long", frame(0x02, [1]) + frame(0x80, full), with: 1009, shownBy: 11,
            limit: 200)
        fails(
            rule, "many small fragments", frame(0x02, [1]) + (0..<250).flatMap { _ in frame(0x00, [1]) },
            with: 1009,
            shownBy: 200 * 7 + 2, limit: 200)
        fails(rule, "201, announced", [0x82, 0xFE, 0x00, 0xC9], with: 1009, shownBy: 4, limit: 200)
        fails(
            rule, "2^63 - 1, announced", [0x82, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7), with: 1009,
            shownBy: 10)
        fails(
            rule, "2^63 - 1, announced where all but that is allowed",
            [0x82, 0xFF, 0x7F] + [UInt8](repeating: 0xFF, count: 7), with: 1009, shownBy: 10, limit: .max - 1)
        reads(rule, "an empty message where nothing else is allowed", frame(0x81), [.text([])], limit: 0)
        fails(rule, "a byte where nothing is allowed", [0x82, 0x81], with: 1009, shownBy: 2, limit: 0)
        reads(rule, "a ping where nothing is allowed", frame(0x89, "a"), [.ping([0x61])], limit: 0)
        reads(
            rule, "the limit is each message's own",
            frame(0x82, full) + frame(0x02, full) + frame(0x80) + frame(0x82, full),
            [.binary(full), .binary(full), .binary(full)], limit: 200)
        fails(
            rule, "a message to a client", frame(0x82, full + [1], mask: nil), with: 1009, shownBy: 4,
            role: .client,
            limit: 200)
    }
}
