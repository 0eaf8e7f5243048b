import Wire

/// A simple, independent parser of uncompressed frames: all bytes are in memory, and are read frame by frame (RFC 6455
/// §5.2).
struct PlainFrames {
    private(set) var events: [WebSocketReading.Event] = []
    private(set) var fragments = 0
    private(set) var isWrong = false
    /// Whether the bytes end within a frame.
    private(set) var isCut = false

    private var message: (opcode: WebSocketOpcode, bytes: [UInt8])?

    init(_ bytes: [UInt8], isServer: Bool, limit: Int) {
        var rest = bytes[...]
        while !rest.isEmpty, !isWrong {
            guard let header = Header(rest) else {
                isCut = true
                return
            }
            let isOver = header.length > rest.count - header.count
            let payload = rest.dropFirst(header.count).prefix(Int(min(header.length, UInt64(Int32.max))))
            take(header, header.unmasked(payload), isServer: isServer, limit: limit, isOver: isOver)
            if isOver {
                isCut = true
                return
            }
            if case .close? = events.last { return }
            rest = rest.dropFirst(header.count + payload.count)
        }
    }

    private struct Header {
        let first: UInt8
        let mask: [UInt8]?
        let length: UInt64
        let isLongForm: Bool
        let count: Int

        init?(_ bytes: ArraySlice<UInt8>) {
            let bytes = Array(bytes.prefix(14))
            guard bytes.count >= 2 else { return nil }
            first = bytes[0]
            let short = bytes[1] & 0x7F
            let more = short == 126 ? 2 : short == 127 ? 8 : 0
            let isMasked = bytes[1] & 0x80 != 0
            count = 2 + more + (isMasked ? 4 : 0)
            guard bytes.count >= count else { return nil }
            let long = bytes[2..<2 + more].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            length = more == 0 ? UInt64(short) : long
            isLongForm = more == 2 && long < 126 || more == 8 && (long < 65_536 || long >> 63 == 1)
            mask = isMasked ? Array(bytes[2 + more..<count]) : nil
        }

        func unmasked(_ payload: ArraySlice<UInt8>) -> [UInt8] {
            guard let mask else { return Array(payload) }
            return payload.enumerated().map { $1 ^ mask[$0 % 4] }
        }
    }

    private mutating func take(_ header: Header, _ payload: [UInt8], isServer: Bool, limit: Int, isOver: Bool) {
        let isFinal = header.first & 0x80 != 0
        let isControl = header.first & 8 != 0
        guard header.first & 0x70 == 0, let opcode = WebSocketOpcode(rawValue: header.first & 15),
            (header.mask != nil) == isServer, !header.isLongForm, !isControl || isFinal && header.length < 126,
            isControl || (opcode == .continuation) == (message != nil),
            isControl || header.length <= UInt64(limit - (message?.bytes.count ?? 0))
        else {
            isWrong = true
            return
        }
        // An incomplete frame can have errors, but causes no event.
        guard !isOver else { return }
        switch opcode {
        case .ping: events.append(.ping(payload))
        case .pong: events.append(.pong(payload))
        case .close: takeClose(payload)
        default:
            let whole = (message?.opcode ?? opcode, (message?.bytes ?? []) + payload)
            message = isFinal ? nil : whole
            guard isFinal else {
                checkStart(whole.0, whole.1)
                if !isWrong { fragments += 1 }
                return
            }
            isWrong = whole.0 == .text && String(validating: whole.1, as: UTF8.self) == nil
            if !isWrong { events.append(.message(whole.0, whole.1)) }
        }
    }

    /// Invalid text is detected in the fragment with its first invalid byte. The end of a fragment may split a
    /// character.
    private mutating func checkStart(_ opcode: WebSocketOpcode, _ bytes: [UInt8]) {
        let completions: [[UInt8]] = [
            [], [0x80], [0x90], [0xA0], [0x80, 0x80], [0x90, 0x80], [0xA0, 0x80], [0x80, 0x80, 0x80],
            [0x90, 0x80, 0x80],
        ]
        isWrong =
            opcode == .text && !completions.contains { String(validating: bytes + $0, as: UTF8.self) != nil }
    }

    private mutating func takeClose(_ payload: [UInt8]) {
        guard !payload.isEmpty else { return events.append(.close(nil, "")) }
        let code = payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        let reason = String(validating: payload.dropFirst(2), as: UTF8.self)
        isWrong = payload.count == 1 || reason == nil || !Self.isSendable(code)
        if !isWrong, let reason { events.append(.close(code, reason)) }
    }

    /// RFC 6455 §7.4, and the registry of close codes.
    private static func isSendable(_ code: UInt16) -> Bool {
        [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014].contains(code)
            || code >= 3000 && code < 5000
    }
}
