/// Reads what a WebSocket peer sends, however the bytes are split (RFC 6455 §5).
///
///     a frame that is a message, whole in the input → unmasked where it lies, handed out as a slice of the input
///     anything else                                 → gathered in a `MessageReassembly`, within `maxMessageBytes`
///
/// Call `next` until it returns `nil`, which means that the input is used up. An error, or a close frame, is the last thing
/// that is read: whatever follows is swallowed (§7.1.7, §5.5.1). One of these is in every connection, so idle it is a few
/// words and no memory elsewhere. One connection, one parser: it can't be copied.
package struct WebSocketParser: ~Copyable {
    private let maxMessageBytes: Int
    private var assembly: MessageReassembly?
    private let role: WebSocketRole
    private let allowsCompressed: Bool
    private var hasEnded = false

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
        guard let assembly else { return false }
        return !assembly.hasBeenTaken
    }

    /// The next event in `input`, from whose front it takes what it read; `nil` when there is nothing more to read.
    package mutating func next(
        _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketEvent? {
        do throws(WebSocketError) {
            if hasEnded {
                assembly = nil
                _ = input.take(input.count)
                return nil
            }
            return try advance(&input)
        } catch {
            hasEnded = true
            assembly = nil
            throw error
        }
    }

    private mutating func advance(
        _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketEvent? {
        dropWhatWasTaken()
        while true {
            if let assembly, let frame = assembly.frame {
                return try continueFrame(frame, in: assembly, &input)
            }
            guard let header = try readHeader(&input) else { return nil }
            let isWholeMessage = header.isFinal && header.opcode != .continuation
            guard isWholeMessage, header.payloadBytes <= input.count else {
                begin(header)
                continue
            }
            let payload = input.take(header.payloadBytes)
            header.mask?.apply(to: payload)
            return try event(header, payload)
        }
    }

    /// What was handed out lay in the assembly; now that the next call is here, nobody looks at it any more.
    private mutating func dropWhatWasTaken() {
        guard let assembly, assembly.hasBeenTaken else { return }
        if assembly.opcode == nil {
            self.assembly = nil
        } else {
            assembly.control = GatheringBuffer()
            assembly.hasBeenTaken = false
        }
    }

    /// The next frame's header; gathered when the input ends within it.
    private mutating func readHeader(
        _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketFrameHeader? {
        guard !input.isEmpty else { return nil }
        let rules = WebSocketFrameHeader.Rules(
            role: role, allowsCompressed: allowsCompressed,
            openMessage: assembly.flatMap { $0.opcode == nil ? nil : ($0.message.count, $0.isCompressed) },
            maxMessageBytes: maxMessageBytes)
        guard let assembly, !assembly.header.isEmpty else {
            if let header = try WebSocketFrameHeader(UnsafeRawBufferPointer(input), rules: rules) {
                _ = input.take(header.count)
                return header
            }
            assembleOnDemand().header.append(contentsOf: input.take(input.count))
            return nil
        }
        let known = assembly.header.count
        assembly.header.append(contentsOf: input.prefix(WebSocketFrameHeader.longest - known))
        let result = assembly.header.withUnsafeBytes { bytes in
            Result { () throws(WebSocketError) in try WebSocketFrameHeader(bytes, rules: rules) }
        }
        let header = try result.get()
        _ = input.take((header?.count ?? assembly.header.count) - known)
        guard let header else { return nil }
        assembly.header = []
        if assembly.opcode == nil { self.assembly = nil }
        return header
    }

    /// A frame whose payload has to be gathered.
    private mutating func begin(_ header: WebSocketFrameHeader) {
        let assembly = assembleOnDemand()
        assembly.frame = header
        assembly.frameBytes = 0
        if header.opcode == .text || header.opcode == .binary {
            assembly.opcode = header.opcode
            assembly.isCompressed = header.isCompressed
        }
    }

    /// Gathers what the input has of `frame`; an event when that was the end of it.
    private mutating func continueFrame(
        _ frame: WebSocketFrameHeader, in assembly: MessageReassembly, _ input: inout UnsafeMutableRawBufferPointer
    ) throws(WebSocketError) -> WebSocketEvent? {
        let piece = input.take(min(frame.payloadBytes - assembly.frameBytes, input.count))
        frame.mask?.apply(to: piece, offset: assembly.frameBytes)
        assembly.frameBytes += piece.count
        let rest = frame.payloadBytes - assembly.frameBytes
        let bytes = UnsafeRawBufferPointer(piece)
        if frame.opcode.isControl {
            guard assembly.control.append(bytes, atMost: frame.payloadBytes) else { throw .outOfMemory }
        } else {
            let atMost = frame.isFinal ? assembly.message.count + piece.count + rest : maxMessageBytes
            guard assembly.message.append(bytes, atMost: atMost) else { throw .outOfMemory }
            if assembly.opcode == .text, !assembly.isCompressed {
                guard assembly.validator.append(bytes) else { throw .textNotUTF8 }
            }
        }
        guard rest == 0 else { return nil }
        assembly.frame = nil
        if frame.opcode.isControl {
            assembly.hasBeenTaken = true
            return try event(frame, assembly.control.bytes)
        }
        guard frame.isFinal, let opcode = assembly.opcode else { return .fragment }
        guard assembly.validator.isComplete else { throw .textNotUTF8 }
        assembly.opcode = nil
        assembly.hasBeenTaken = true
        return .message(opcode: opcode, isCompressed: assembly.isCompressed, assembly.message.bytes)
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
            hasEnded = true
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

    private mutating func assembleOnDemand() -> MessageReassembly {
        if let assembly { return assembly }
        let made = MessageReassembly()
        assembly = made
        return made
    }
}

// Its one reference is to an object that it made, never hands out, and, not being copyable, never shares: whoever holds the
// parser holds the object alone.
extension WebSocketParser: @unchecked Sendable {}
