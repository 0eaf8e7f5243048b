import Wire

/// A parser's result for a peer's bytes, inflated if they were compressed, in a form that can be compared.
struct WebSocketReading: Equatable {
    enum Event: Equatable {
        case message(WebSocketOpcode, [UInt8])
        case ping([UInt8])
        case pong([UInt8])
        case close(UInt16?, String)
    }

    var events: [Event] = []
    /// The number of frames of fragmented messages.
    var fragments = 0
    var error: WebSocketError?

    init(_ pieces: [[UInt8]], role: WebSocketRole, limit: Int, compression: WebSocketDeflateParameters?) {
        var parser = WebSocketParser(role: role, maxMessageBytes: limit, allowsCompressed: compression != nil)
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
                        let payloadBytes = UnsafeRawBufferPointer(payload)
                        let message = try deflate.inflate(payloadBytes, opcode, maxMessageBytes: limit, with: pool)
                        events.append(.message(opcode, Array(message)))
                    }
                } catch {
                    self.error = error
                }
            }
        }
    }

    private mutating func take(_ event: WebSocketEvent) {
        switch event {
        case .message(let opcode, _, let payload): events.append(.message(opcode, Array(payload)))
        case .ping(let payload): events.append(.ping(Array(payload)))
        case .pong(let payload): events.append(.pong(Array(payload)))
        case .fragment: fragments += 1
        case .close(let code, let reason): events.append(.close(code?.rawValue, reason))
        }
    }
}
