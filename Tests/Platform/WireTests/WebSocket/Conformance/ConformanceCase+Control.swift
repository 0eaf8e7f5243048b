@testable import Wire

/// Control frames, closing frames among them (RFC 6455 §5.5, §7.4).
extension ConformanceCase {
    private static func close(_ code: Int, _ reason: [UInt8] = []) -> [UInt8] {
        frame(0x88, [UInt8(code >> 8), UInt8(code & 255)] + reason)
    }

    @CaseList static var controlFrames: [ConformanceCase] {
        for length in [0, 1, 2, 8, 124, 125] {
            reads(
                "RFC 6455 §5.5.2", "a ping of \(length) bytes", frame(0x89, pattern(length)),
                [.ping(pattern(length))])
            reads(
                "RFC 6455 §5.5.3", "a pong of \(length) bytes that nobody asked for", frame(0x8A, pattern(length)),
                [.pong(pattern(length))])
        }
        for (name, opcode): (String, UInt8) in [("close", 0x8), ("ping", 0x9), ("pong", 0xA)] {
            fails("RFC 6455 §5.5", "a fragmented \(name)", [opcode], shownBy: 1)
            fails("RFC 6455 §5.5", "a fragmented \(name) to a client", [opcode], shownBy: 1, role: .client)
            fails(
                "RFC 6455 §5.5", "a fragmented \(name) inside of a message", frame(0x01, "a") + [opcode],
                shownBy: 8)
            fails("RFC 6455 §5.5", "a \(name) of 126 bytes", [0x80 | opcode, 0xFE, 0x00, 0x7E], shownBy: 2)
            fails("RFC 6455 §5.5", "a \(name) with an eight-byte length", [0x80 | opcode, 0xFF], shownBy: 2)
            fails(
                "RFC 6455 §5.5", "a \(name) of 127 bytes to a client", [0x80 | opcode, 0x7F], shownBy: 2,
                role: .client)
        }
        reads(
            "RFC 6455 §5.5.2", "ten pings in a row", (0..<10).flatMap { frame(0x89, [$0]) },
            (0..<10).map { .ping([$0]) })
        reads(
            "RFC 6455 §5.5.2", "a ping's data may be anything", frame(0x89, [0xFF, 0x00, 0xC0, 0x80]),
            [.ping([0xFF, 0x00, 0xC0, 0x80])])
        fails(
            "RFC 6455 §5.4", "a ping is continued", frame(0x89, "a") + frame(0x80, "b"), after: [.ping([0x61])],
            shownBy: 8)
    }

    @CaseList static var closing: [ConformanceCase] {
        reads("RFC 6455 §5.5.1", "no code", frame(0x88), [.close(nil, "")])
        reads("RFC 6455 §5.5.1", "no code, to a client", [0x88, 0x00], [.close(nil, "")], role: .client)
        fails("RFC 6455 §5.5.1", "half a code", frame(0x88, [0x03]), shownBy: 7)
        reads("RFC 6455 §5.5.1", "a reason", close(4000, Array("bye, ä €😀".utf8)), [.close(4000, "bye, ä €😀")])
        reads(
            "RFC 6455 §5.5.1", "the longest reason", close(1000, letters(123)),
            [.close(1000, String(decoding: letters(123), as: UTF8.self))])
        fails("RFC 6455 §5.5", "a longer reason", [0x88, 0xFE], shownBy: 2)
        reads(
            "RFC 6455 §5.5.1", "what follows a close is not read", close(1000) + [0xFF, 0xFF, 0xFF],
            [.close(1000, "")])
        reads(
            "RFC 6455 §5.5.1", "a message after a close is not read", close(1001) + frame(0x81, "a"),
            [.close(1001, "")])
        reads(
            "RFC 6455 §5.5.1", "two closes: the first counts", close(1001) + close(1000), [.close(1001, "")])
        reads(
            "RFC 6455 §5.5.1", "messages before a close are read", frame(0x81, "a") + frame(0x89) + close(1000),
            [.text([0x61]), .ping([]), .close(1000, "")])
        codes
        reasons
    }

    @CaseList private static var codes: [ConformanceCase] {
        for code in Array(1000...1003) + Array(1007...1014) + [3000, 3999, 4000, 4999] {
            reads("RFC 6455 §7.4", "code \(code)", close(code), [.close(UInt16(code), "")])
        }
        for code in [0, 1, 255, 256, 999, 1004, 1005, 1006, 1015, 1016, 1100, 1999, 2000, 2999, 5000, 9999, 65_535] {
            fails("RFC 6455 §7.4", "code \(code)", close(code), shownBy: 8)
        }
        for code in [1005, 2999] {
            fails("RFC 6455 §7.4", "code \(code) with a reason", close(code, Array("bye".utf8)), shownBy: 11)
        }
    }

    @CaseList private static var reasons: [ConformanceCase] {
        for sample in UTF8Samples.invalid {
            fails(
                "RFC 6455 §5.5.1", "a reason with \(sample.name)", close(1000, Array("ab".utf8) + sample.bytes),
                with: 1007)
        }
    }
}
