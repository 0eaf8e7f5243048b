/// Parses the bytes of a WebSocket peer, which may be split anywhere (RFC 6455 §5).
///
/// ```
/// a message in one frame, whole in the input → unmasked in place, passed on as a slice of the input
/// anything else                              → gathered in a `MessageReassembly`, within `maxMessageBytes`
/// | state                 | input                                | next state                                        |
/// |-----------------------|--------------------------------------|---------------------------------------------------|
/// | idle                  | a whole message, or a control frame  | idle, with an event                               |
/// |                       | a part of a frame, or a fragment     | gathering, at the end of the input                |
/// | gathering, in header  | the rest of the header               | at frame if a message is open, or idle; continues |
/// | gathering, in payload | the rest of a fragment, not the last | at frame, with `fragment`                         |
/// |                       | the rest of the last one, or control | handed out, with an event                         |
/// | gathering, at frame   | a frame                              | as idle, but the message stays open               |
/// | gathering, handed out | the next call                        | at frame if a message is open, or idle; continues |
/// | any                   | a close frame, or an error           | ended: all further input is discarded             |
/// ```
///
/// Call `next` until it returns `nil`: then the input is used up. After an error or a close frame, all further input is
/// discarded (§7.1.7, §5.5.1). Each connection has one parser, which can't be copied. An idle parser takes a few words
/// and no other memory.
package struct WebSocketParser: ~Copyable {
    /// The state of the parser, see the table above.
    private enum State {
        case idle
        case gathering(MessageReassembly)
        case ended
    }

    package let maxMessageBytes: Int
    private var state = State.idle
    private let role: WebSocketRole
    private let allowsCompressed: Bool

    /// - Parameters:
    ///   - role: The end of the connection that reads.
    ///   - maxMessageBytes: The maximum size of a message. A larger message is refused with code 1009 as soon as a
    ///     header shows its size. A compressed message may be somewhat larger, because some data can't be compressed.
    ///     The inflater then checks the limit. Control frames have at most 125 bytes.
    ///   - allowsCompressed: Whether permessage-deflate was negotiated. If it was, RSV1 on the first frame of a message
    ///     marks the message as compressed.
    package init(role: WebSocketRole, maxMessageBytes: Int, allowsCompressed: Bool = false) {
        self.role = role
        self.maxMessageBytes = max(maxMessageBytes, 0)
        self.allowsCompressed = allowsCompressed
    }

    /// Whether a frame or message has begun and isn't complete.
    package var isInMessage: Bool {
        switch state {
        case .idle, .ended: return false
        case .gathering(let gathering):
            guard case .handedOut = gathering.position else { return true }
            return gathering.openMessage != nil
        }
    }

    /// Returns the next event in `input`, and removes the parsed bytes from the front of `input`. Returns `nil` if the
    /// input is used up.
    package mutating func next(
        _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketEvent? {
        do throws(WebSocketError) {
            switch state {
            case .idle: return try readFrame(&input, into: nil)
            case .gathering(let gathering): return try continueMessage(gathering, &input)
            case .ended:
                _ = input.take(input.count)
                return nil
            }
        } catch {
            state = .ended
            throw error
        }
    }

    private mutating func continueMessage(
        _ gathering: MessageReassembly, _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketEvent? {
        switch gathering.position {
        case .handedOut:
            // This is the next call, so the last event isn't used any more.
            guard gathering.openMessage != nil else {
                state = .idle
                return try readFrame(&input, into: nil)
            }
            gathering.control = GatheringBuffer()
            gathering.position = .atFrame
            return try readFrame(&input, into: gathering)
        case .atFrame:
            return try readFrame(&input, into: gathering)
        case .inHeader(let known):
            guard let header = try continueHeader(known, of: gathering, &input) else { return nil }
            guard gathering.openMessage != nil else {
                state = .idle
                return try readPayload(of: header, &input, into: nil)
            }
            return try readPayload(of: header, &input, into: gathering)
        case .inPayload(let header, let received):
            return try gather(header, received: received, in: gathering, &input)
        }
    }

    /// Parses a frame from its first byte.
    ///
    /// - Parameter gathering: The state of an open message.
    private mutating func readFrame(
        _ input: inout UnsafeMutableRawBufferPointer, into gathering: MessageReassembly?
    ) throws(WebSocketError) -> WebSocketEvent? {
        guard !input.isEmpty else { return nil }
        guard let header = try WebSocketFrameHeader(UnsafeRawBufferPointer(input), rules: rules(in: gathering)) else {
            gatherOnDemand(gathering).position = .inHeader([UInt8](input.take(input.count)))
            return nil
        }
        _ = input.take(header.count)
        return try readPayload(of: header, &input, into: gathering)
    }

    private func rules(in gathering: MessageReassembly?) -> WebSocketFrameHeader.Rules {
        WebSocketFrameHeader.Rules(
            role: role, allowsCompressed: allowsCompressed,
            openMessage: gathering.flatMap(Self.openMessage), maxMessageBytes: maxMessageBytes)
    }

    private static func openMessage(_ gathering: MessageReassembly) -> (bytes: Int, isCompressed: Bool)? {
        guard let message = gathering.openMessage else { return nil }
        return (gathering.message.count, message.isCompressed)
    }

    /// Continues a header of which the first bytes have arrived.
    private func continueHeader(
        _ known: [UInt8], of gathering: MessageReassembly, _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketFrameHeader? {
        let bytes = known + input.prefix(WebSocketFrameHeader.longest - known.count)
        let rules = rules(in: gathering)
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(WebSocketError) in try WebSocketFrameHeader(bytes, rules: rules) }
        }
        let header = try result.get()
        _ = input.take((header?.count ?? bytes.count) - known.count)
        gathering.position = header == nil ? .inHeader(bytes) : .atFrame
        return header
    }

    /// Parses the bytes after a header. If they are a whole message or control frame, they are returned in place.
    /// Otherwise they are gathered.
    private mutating func readPayload(
        of header: WebSocketFrameHeader, _ input: inout UnsafeMutableRawBufferPointer,
        into gathering: MessageReassembly?
    ) throws(WebSocketError) -> WebSocketEvent? {
        let isWhole = header.isFinal && header.opcode != .continuation
        guard isWhole, header.payloadBytes <= input.count else {
            let gathering = gatherOnDemand(gathering)
            gathering.begin(header)
            return try gather(header, received: 0, in: gathering, &input)
        }
        let payload = input.take(header.payloadBytes)
        header.mask?.apply(to: payload)
        return try event(header, payload)
    }

    /// Gathers those bytes of a frame's payload that are in the input. Returns an event if the payload is then
    /// complete.
    private mutating func gather(
        _ frame: WebSocketFrameHeader, received: Int, in gathering: MessageReassembly,
        _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketEvent? {
        let piece = input.take(min(frame.payloadBytes - received, input.count))
        frame.mask?.apply(to: piece, offset: received)
        let received = received + piece.count
        let rest = frame.payloadBytes - received
        let bytes = UnsafeRawBufferPointer(piece)
        if frame.opcode.isControl {
            guard gathering.control.append(bytes, atMost: frame.payloadBytes) else { throw .outOfMemory }
        } else {
            let atMost = frame.isFinal ? gathering.message.count + piece.count + rest : maxMessageBytes
            guard gathering.message.append(bytes, atMost: atMost) else { throw .outOfMemory }
            if let message = gathering.openMessage, message.opcode == .text, !message.isCompressed {
                guard gathering.validator.append(bytes) else { throw .textNotUTF8 }
            }
        }
        guard rest == 0 else {
            gathering.position = .inPayload(frame, received: received)
            return nil
        }
        if frame.opcode.isControl {
            gathering.position = .handedOut
            return try event(frame, gathering.control.bytes)
        }
        guard frame.isFinal, let message = gathering.openMessage else {
            gathering.position = .atFrame
            return .fragment
        }
        guard gathering.validator.isComplete else { throw .textNotUTF8 }
        gathering.openMessage = nil
        gathering.position = .handedOut
        return .message(
            opcode: message.opcode, isCompressed: message.isCompressed, gathering.message.bytes)
    }

    /// Unmasks the payload of a frame that isn't fragmented, and returns its event.
    private mutating func event(
        _ header: WebSocketFrameHeader, _ payload: UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketEvent {
        switch header.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .close:
            let (code, reason) = try Self.closing(UnsafeRawBufferPointer(payload))
            state = .ended
            return .close(code: code, reason: reason)
        case .text, .binary, .continuation:
            if header.opcode == .text, !header.isCompressed {
                guard UTF8Validator.isValid(UnsafeRawBufferPointer(payload)) else { throw .textNotUTF8 }
            }
            return .message(opcode: header.opcode, isCompressed: header.isCompressed, payload)
        }
    }

    /// Parses the content of a close frame: nothing, or a code and a reason (§5.5.1).
    private static func closing(
        _ payload: UnsafeRawBufferPointer
    ) throws(WebSocketError) -> (code: WebSocketCloseCode?, reason: String) {
        if payload.isEmpty { return (nil, "") }
        guard payload.count > 1 else { throw .halfCloseCode }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else { throw .badCloseCode }
        let reason = payload.part(2..<payload.count)
        guard UTF8Validator.isValid(reason) else { throw .closeReasonNotUTF8 }
        return (code, String(decoding: reason, as: UTF8.self))
    }

    private mutating func gatherOnDemand(_ gathering: MessageReassembly?) -> MessageReassembly {
        if let gathering { return gathering }
        let made = MessageReassembly()
        state = .gathering(made)
        return made
    }
}

// `@unchecked Sendable` is safe because the parser's only reference is to an object that it made and never passes on.
// The parser can't be copied, so its owner is the object's only owner.
extension WebSocketParser: @unchecked Sendable {}
