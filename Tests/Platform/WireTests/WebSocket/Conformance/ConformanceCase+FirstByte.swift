@testable import Wire

/// The first byte: reserved opcodes and bits (RFC 6455 §5.2, RFC 7692 §6).
extension ConformanceCase {
    private static let reserved: [UInt8] = [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF]

    @CaseList static var opcodes: [ConformanceCase] {
        for opcode in reserved {
            fails("RFC 6455 §5.2", "opcode \(opcode)", [0x80 | opcode], shownBy: 1)
            fails("RFC 6455 §5.2", "opcode \(opcode) without FIN", [opcode], shownBy: 1)
            fails("RFC 6455 §5.2", "opcode \(opcode) to a client", [0x80 | opcode], shownBy: 1, role: .client)
            fails(
                "RFC 6455 §5.2", "opcode \(opcode) between fragments", frame(0x01, "a") + [0x80 | opcode],
                shownBy: 8)
        }
    }

    private static let kinds: [(name: String, opcode: UInt8)] = [
        ("text", 0x1), ("binary", 0x2), ("close", 0x8), ("ping", 0x9), ("pong", 0xA),
    ]

    @CaseList static var reservedBits: [ConformanceCase] {
        for kind in kinds {
            for bits in UInt8(1)...7 {
                fails(
                    "RFC 6455 §5.2", "reserved bits \(bits) on \(kind.name)", [0x80 | bits << 4 | kind.opcode],
                    shownBy: 1)
            }
        }
        for bits in UInt8(1)...7 {
            fails(
                "RFC 6455 §5.2", "reserved bits \(bits) on a continuation", frame(0x01, "a") + [0x80 | bits << 4],
                shownBy: 8)
        }
        for bits: UInt8 in [1, 2, 3, 5, 6, 7] {
            for kind in kinds {
                fails(
                    "RFC 6455 §5.2", "reserved bits \(bits) on \(kind.name), with compression",
                    [0x80 | bits << 4 | kind.opcode], shownBy: 1,
                    compression: WebSocketDeflateParameters())
            }
        }
        for kind in kinds.filter({ $0.opcode >= 0x8 }) {
            fails(
                "RFC 7692 §6.1", "the compression bit on \(kind.name)", [0xC0 | kind.opcode], shownBy: 1,
                compression: WebSocketDeflateParameters())
        }
        fails(
            "RFC 7692 §6.1", "the compression bit on a continuation of a compressed message",
            frame(0x41, .init(hex: "f2 48 cd")) + frame(0xC0, .init(hex: "c9 c9 07 00")), shownBy: 10,
            compression: WebSocketDeflateParameters())
        fails(
            "RFC 7692 §6.1", "the compression bit on a continuation of a plain message",
            frame(0x01, "a") + [0x40], shownBy: 8, compression: WebSocketDeflateParameters())
    }
}
