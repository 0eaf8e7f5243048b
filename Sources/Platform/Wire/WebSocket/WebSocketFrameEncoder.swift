/// Writes frames to the end of a buffer (RFC 6455 §5.2):
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-------+-+-------------+-------------------------------+
///     |F|R|R|R| opcode|M| Payload len |    Extended payload length    |
///     |I|S|S|S|  (4)  |A|     (7)     |             (16/64)           |
///     |N|V|V|V|       |S|             |   (if payload len==126/127)   |
///     | |1|2|3|       |K|             |                               |
///     +-+-+-+-+-------+-+-------------+ - - - - - - - - - - - - - - - +
///     |     Extended payload length continued, if payload len == 127  |
///     + - - - - - - - - - - - - - - - +-------------------------------+
///     |                               |Masking-key, if MASK set to 1  |
///     +-------------------------------+-------------------------------+
///     | Masking-key (continued)       |          Payload Data         |
///     +-------------------------------- - - - - - - - - - - - - - - - +
///
/// A server's frames have no mask, so one encoded frame serves all receivers. A client needs a new mask for each frame
/// (§5.3).
package enum WebSocketFrameEncoder {
    /// The maximum payload of a control frame in bytes (§5.5).
    package static var longestControlPayload: Int { 125 }

    /// Appends a frame with `payload`. For a control frame, the caller must pass the whole payload, of at most
    /// `longestControlPayload` bytes.
    package static func encode(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, isFinal: Bool = true,
        isCompressed: Bool = false, mask: WebSocketMask? = nil, into buffer: inout [UInt8]
    ) {
        buffer.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case 0...125:
            buffer.append(maskBit | UInt8(payload.count))
        case 126...65_535:
            buffer.append(maskBit | 126)
            buffer.append(UInt8(payload.count >> 8))
            buffer.append(UInt8(payload.count & 0xFF))
        default:
            buffer.append(maskBit | 127)
            withUnsafeBytes(of: UInt64(payload.count).bigEndian) { buffer.append(contentsOf: $0) }
        }
        if let mask { buffer.append(contentsOf: mask.bytes) }
        let start = buffer.count
        buffer.append(contentsOf: payload)
        guard let mask else { return }
        buffer.withUnsafeMutableBytes { bytes in
            mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    /// Appends a frame with `payload`.
    package static func encode(
        _ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true, isCompressed: Bool = false,
        mask: WebSocketMask? = nil, into buffer: inout [UInt8]
    ) {
        payload.withUnsafeBytes {
            encode(opcode, $0, isFinal: isFinal, isCompressed: isCompressed, mask: mask, into: &buffer)
        }
    }

    /// Appends a message in frames of at most `longestPayload` bytes (§5.4). Use it for peers that don't accept longer
    /// frames.
    package static func encode(
        _ opcode: WebSocketOpcode, _ message: UnsafeRawBufferPointer, longestPayload: Int, isCompressed: Bool = false,
        into buffer: inout [UInt8]
    ) {
        var rest = message
        var opcode = opcode
        var isCompressed = isCompressed
        while rest.count > longestPayload, longestPayload > 0 {
            encode(opcode, rest.take(longestPayload), isFinal: false, isCompressed: isCompressed, into: &buffer)
            opcode = .continuation
            // Only the first fragment has the compression bit (RFC 7692 §6.1).
            isCompressed = false
        }
        encode(opcode, rest, isCompressed: isCompressed, into: &buffer)
    }

    /// Appends a text message.
    package static func encode(text: String, mask: WebSocketMask? = nil, into buffer: inout [UInt8]) {
        var text = text
        text.withUTF8 { encode(.text, UnsafeRawBufferPointer($0), mask: mask, into: &buffer) }
    }

    /// Appends a close frame (§5.5.1). The payload is empty if there is no code, or if the code must not be sent. The
    /// reason is cut after the last whole character within 123 bytes.
    package static func close(
        _ code: WebSocketCloseCode?, reason: String = "", mask: WebSocketMask? = nil, into buffer: inout [UInt8]
    ) {
        guard let code, code.isSendable else { return encode(.close, [], mask: mask, into: &buffer) }
        var payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
        for scalar in reason.unicodeScalars {
            let encoded = UTF8.encode(scalar).map(Array.init) ?? []
            guard payload.count + encoded.count <= longestControlPayload else { break }
            payload += encoded
        }
        encode(.close, payload, mask: mask, into: &buffer)
    }
}
