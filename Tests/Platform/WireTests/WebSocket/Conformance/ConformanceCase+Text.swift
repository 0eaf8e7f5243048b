@testable import Wire

/// Text must be UTF-8 (RFC 6455 §8.1). The parser detects an error at its first invalid byte, in any fragment.
extension ConformanceCase {
    private static let rule = "RFC 6455 §8.1"
    private static let before = Array("κόσμε".utf8)

    @CaseList static var text: [ConformanceCase] {
        for sample in UTF8Samples.valid {
            reads(rule, "\(sample.name)", frame(0x81, sample.bytes), [.text(sample.bytes)])
        }
        for sample in UTF8Samples.invalid {
            fails(
                rule, "\(sample.name), first",
                frame(0x81, sample.bytes + (sample.shownBy == nil ? [] : letters(20))),
                with: 1007, shownBy: sample.shownBy.map { 6 + $0 })
            fails(
                rule, "\(sample.name), last", frame(0x81, before + sample.bytes), with: 1007,
                shownBy: sample.shownBy.map { 6 + before.count + $0 })
        }
        reads(
            rule, "what is no text may be anything", frame(0x82, [0xFF, 0xC0, 0x80]), [.binary([0xFF, 0xC0, 0x80])])
        fails(
            rule, "after a good message", frame(0x81, before) + frame(0x81, [0xFF]), with: 1007,
            after: [.text(before)], shownBy: 2 * 6 + before.count + 1)
        fails(
            rule, "in a long text, of which most is still to come",
            Array(frame(0x81, letters(200) + [0xFF] + letters(2000)).prefix(209)), with: 1007, shownBy: 209)
        fails(
            rule, "to a client", frame(0x81, [0x61, 0xFF], mask: nil), with: 1007, shownBy: 4, role: .client)
    }

    @CaseList static var fragmentedText: [ConformanceCase] {
        for sample in UTF8Samples.valid.filter({ $0.bytes.count > 1 }) {
            let last = sample.bytes.indices.last ?? 0
            let frames = sample.bytes.enumerated().flatMap { place, byte in
                frame((place == 0 ? 0x1 : 0x0) | (place == last ? 0x80 : 0), [byte]) + (place < last ? frame(0x89) : [])
            }
            reads(
                rule, "\(sample.name), a byte a fragment, with pings between them", frames,
                [Event](repeating: .ping([]), count: last) + [.text(sample.bytes)])
        }
        for sample in UTF8Samples.invalid.filter({ $0.bytes.count > 1 }) {
            // Each fragment but the last has a header of 6 bytes and a byte of text.
            let frames = sample.bytes.enumerated().flatMap { place, byte in frame(place == 0 ? 0x1 : 0x0, [byte]) }
            fails(
                rule, "\(sample.name), a byte a fragment", frames + frame(0x80), with: 1007,
                shownBy: sample.shownBy.map { $0 * 7 })
        }
        fails(
            rule, "a character that the next message would complete",
            frame(0x81, [0xE2, 0x82]) + frame(0x81, [0xAC]), with: 1007)
        reads(
            rule, "fragments of binary data may be anything", frame(0x02, [0xC3]) + frame(0x80, [0xFF]),
            [.binary([0xC3, 0xFF])])
        reads(
            rule, "an empty fragment within a character",
            frame(0x01, [0xE2]) + frame(0x00) + frame(0x80, [0x82, 0xAC]), [.text([0xE2, 0x82, 0xAC])])
        fails(
            rule, "a good fragment, then a bad one, of which most is still to come",
            frame(0x01, before) + Array(frame(0x80, [0xED, 0xA0] + letters(100)).prefix(8)), with: 1007,
            shownBy: 6 + before.count + 8)
    }
}
