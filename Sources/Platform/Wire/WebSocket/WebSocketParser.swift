/// Reads what a WebSocket peer sends, however the bytes are split (RFC 6455 §5).
///
///     a frame that is a message, whole in the input → unmasked where it lies, handed out as a slice of the input
///     anything else                                 → gathered in a `MessageReassembly`, within `maxMessageBytes`
///
/// | state                  | what comes                            | next state                                       |
/// |------------------------|---------------------------------------|--------------------------------------------------|
/// | idle                   | a frame that is a message, or control | idle, with an event                              |
/// |                        | a part of a frame, or a fragment      | gathering, wherever the input ends               |
/// | gathering, in header   | the rest of it                        | at frame if a message is open, else idle; and on |
/// | gathering, in payload  | the rest of a fragment that goes on   | at frame, with `fragment`                        |
/// |                        | the rest of a last one, or of control | handed out, with an event                        |
/// | gathering, at frame    | a frame                               | as idle, but the message stays open              |
/// | gathering, handed out  | the next call                         | at frame if a message is open, else idle; and on |
/// | any                    | a close frame, or an error            | ended: what follows is swallowed                 |
///
/// Call `next` until it returns `nil`, which means that the input is used up. An error, or a close frame, is the last thing
/// that is read: whatever follows is swallowed (§7.1.7, §5.5.1). One of these is in every connection, so idle it is a few
/// words and no memory elsewhere. One connection, one parser: it can't be copied.
package struct WebSocketParser: ~Copyable {
    /// See the table above.
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
    ///   - role: which end of the connection reads.
    ///   - maxMessageBytes: of a message; beyond it the error has code 1009, as soon as a header says so. A compressed one may
    ///     have somewhat more on the wire, for data that can't be compressed: whoever inflates it sees to the limit. Not of
    ///     control frames, which have 125 bytes at most.
    ///   - allowsCompressed: permessage-deflate was negotiated, so RSV1 on a message's first frame marks it as compressed.
    package init(role: WebSocketRole, maxMessageBytes: Int, allowsCompressed: Bool = false) {
        self.role = role
        self.maxMessageBytes = max(maxMessageBytes, 0)
        self.allowsCompressed = allowsCompressed
    }

    /// A frame or a message has begun and isn't whole.
    package var isInMessage: Bool {
        switch state {
        case .idle, .ended: return false
        case .gathering(let gathering):
            guard case .handedOut = gathering.position else { return true }
            return gathering.openMessage != nil
        }
    }

    /// The next event in `input`, from whose front it takes what it read; `nil` when there is nothing more to read.
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
            // Now that the next call is here, nobody looks at it any more.
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

    /// A frame from its first byte on.
    ///
    /// - Parameter gathering: Where a message lies that has begun.
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

    /// The rest of a header whose beginning is known.
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

    /// What comes behind a header: handed out where it lies if it is a whole message or control frame, else gathered.
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

    /// Gathers what the input has of a frame's payload; an event when that was the end of it.
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

    /// The event of a frame that stands alone, its payload unmasked.
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

    /// What a close frame holds: nothing, or a code and a reason (§5.5.1).
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

// Its one reference is to an object that it made, never hands out, and, not being copyable, never shares: whoever holds the
// parser holds the object alone.
extension WebSocketParser: @unchecked Sendable {}
