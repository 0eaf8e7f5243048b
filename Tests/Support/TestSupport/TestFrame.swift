/// A WebSocket frame (RFC 6455 §5.2). It may be invalid, for tests of the server's reaction.
/// ```
///     0               1               2               3
///    |F|R|R|R| opcode|M|   length    |  extended length (0, 2 or 8 bytes)
///    | masking key (4 bytes if M)    |  payload
/// ```
package struct TestFrame: Sendable, Equatable {
    package struct Opcode: Sendable, Equatable, CustomStringConvertible {
        package let rawValue: UInt8
        package init(_ rawValue: UInt8) { self.rawValue = rawValue }

        package static let continuation = Opcode(0)
        package static let text = Opcode(1)
        package static let binary = Opcode(2)
        package static let close = Opcode(8)
        package static let ping = Opcode(9)
        package static let pong = Opcode(10)

        package var isControl: Bool { rawValue >= 8 }

        package var description: String {
            switch self {
            case .continuation: "continuation"
            case .text: "text"
            case .binary: "binary"
            case .close: "close"
            case .ping: "ping"
            case .pong: "pong"
            default: "opcode \(rawValue)"
            }
        }
    }

    /// The number of bytes that encode the length. Only `minimal` always satisfies RFC 6455 §5.2.
    package enum LengthForm: Sendable {
        case minimal, sixteenBits, sixtyFourBits
    }

    package var opcode: Opcode
    package var payload: [UInt8]
    package var isFinal: Bool
    /// RSV1, RSV2, RSV3 as the bits 4, 2, 1.
    package var reserved: UInt8

    package init(_ opcode: Opcode, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0) {
        self.opcode = opcode
        self.payload = payload
        self.isFinal = isFinal
        self.reserved = reserved
    }

    package init(_ opcode: Opcode, _ text: String, isFinal: Bool = true, reserved: UInt8 = 0) {
        self.init(opcode, Array(text.utf8), isFinal: isFinal, reserved: reserved)
    }

    /// Returns a close frame. Without a code its payload is empty.
    package static func close(_ code: UInt16?, _ reason: String = "") -> TestFrame {
        guard let code else { return TestFrame(.close) }
        return TestFrame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    /// Returns the frame's bytes. `mask` is the masking key, which is random for a valid client (§5.3); `nil` leaves
    /// the frame unmasked. `announcedLength` replaces the payload's own length.
    package func bytes(
        mask: [UInt8]? = TestFrame.randomMask(), lengthForm: LengthForm = .minimal, announcedLength: UInt64? = nil
    ) -> [UInt8] {
        let length = announcedLength ?? UInt64(payload.count)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        var bytes = [(isFinal ? 0x80 : 0) | (reserved & 7) << 4 | (opcode.rawValue & 15)]
        switch lengthForm {
        case .minimal where length <= 125:
            bytes.append(maskBit | UInt8(length))
        case .minimal where length <= 0xFFFF, .sixteenBits:
            bytes.append(maskBit | 126)
            bytes += withUnsafeBytes(of: UInt16(truncatingIfNeeded: length).bigEndian) { Array($0) }
        case .minimal, .sixtyFourBits:
            bytes.append(maskBit | 127)
            bytes += withUnsafeBytes(of: length.bigEndian) { Array($0) }
        }
        guard let mask, mask.count == 4 else { return bytes + payload }
        bytes += mask
        bytes += payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
        return bytes
    }

    package static func randomMask() -> [UInt8] {
        (0..<4).map { _ in UInt8.random(in: 0...255) }
    }

    /// The payload as text; invalid UTF-8 shows as U+FFFD.
    package var text: String { String(decoding: payload, as: UTF8.self) }
}
