import Wire

/// A parser's result for some bytes, in a form that can be compared.
struct WebSocketTranscript: Equatable {
    enum Event: Equatable {
        case text([UInt8])
        case binary([UInt8])
        case ping([UInt8])
        case pong([UInt8])
        case close(UInt16?, String)
    }

    var events: [Event] = []
    /// The number of frames of fragmented messages.
    var fragments = 0
    var error: WebSocketError?

    init(
        _ pieces: [[UInt8]], role: WebSocketRole = .server, maxMessageBytes: Int = 1 << 20,
        compression: WebSocketDeflateParameters? = nil
    ) {
        var parser = WebSocketParser(
            role: role, maxMessageBytes: maxMessageBytes, allowsCompressed: compression != nil)
        var deflate = WebSocketDeflate(compression ?? WebSocketDeflateParameters())
        let pool = WebSocketDeflatePool()
        for piece in pieces where error == nil {
            withExactMemory(piece) { memory in
                var input = memory
                do throws(WebSocketError) {
                    while let event = try parser.next(&input) {
                        guard case .message(let opcode, true, let payload) = event else {
                            take(event)
                            continue
                        }
                        let message = try deflate.inflate(
                            UnsafeRawBufferPointer(payload), opcode, maxMessageBytes: maxMessageBytes, with: pool)
                        take(
                            .message(
                                opcode: opcode, isCompressed: false, UnsafeMutableRawBufferPointer(mutating: message)))
                    }
                } catch {
                    self.error = error
                }
            }
        }
    }

    private mutating func take(_ event: WebSocketEvent) {
        switch event {
        case .message(.text, _, let payload): events.append(.text(Array(payload)))
        case .message(_, _, let payload): events.append(.binary(Array(payload)))
        case .ping(let payload): events.append(.ping(Array(payload)))
        case .pong(let payload): events.append(.pong(Array(payload)))
        case .fragment: fragments += 1
        case .close(let code, let reason): events.append(.close(code?.rawValue, reason))
        }
    }
}

/// Returns a client's frame made by hand, by an independent reading of RFC 6455 §5.2.
func frame(
    _ first: UInt8, _ payload: [UInt8] = [], mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D], lengthBytes: Int? = nil
) -> [UInt8] {
    var bytes = [first]
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    let length = payload.count
    switch lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8) {
    case 0: bytes.append(maskBit | UInt8(length))
    case 2: bytes += [maskBit | 126, UInt8(length >> 8), UInt8(length & 255)]
    default: bytes += [maskBit | 127] + (0..<8).reversed().map { UInt8(length >> ($0 * 8) & 255) }
    }
    guard let mask else { return bytes + payload }
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
}

func frame(_ first: UInt8, _ text: String) -> [UInt8] {
    frame(first, Array(text.utf8))
}
