import Wire

/// The parser of frames and messages: it reads the same for every splitting and as a simple parser, and keeps its
/// limits.
enum WebSocketProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let role: WebSocketRole = input.option(0) ? .client : .server
        let limit = input.option(1) ? 64 : 4096
        let compression = input.option(2) ? parameters(input) : nil
        let readings = input.arrivals.map {
            WebSocketReading($0, role: role, limit: limit, compression: compression)
        }
        let reading = readings[0]
        for other in readings.dropFirst() {
            try require(other == reading, "another split is read otherwise: \(reading) \(other)")
        }
        try checkEvents(reading, limit)
        try checkRewritten(reading, role, limit)
        guard compression == nil else { return }
        let plain = PlainFrames(input.content, isServer: role == .server, limit: limit)
        try require(plain.events == reading.events, "a plain reading differs: \(plain.events) \(reading.events)")
        // Each frame costs work, so the parser must report every frame to the rate limit.
        try require(plain.fragments == reading.fragments, "\(plain.fragments) fragments, not \(reading.fragments)")
        // The parser may find an error before the frame is complete.
        try require(
            plain.isWrong ? reading.error != nil : reading.error == nil || plain.isCut,
            "a plain reading has \(plain.isWrong ? "an" : "no") error: \(reading)")
    }

    static func parameters(_ input: FuzzInput) -> WebSocketDeflateParameters {
        var parameters = WebSocketDeflateParameters()
        parameters.clientNoContextTakeover = input.option(3)
        parameters.serverNoContextTakeover = input.option(4)
        if !input.option(3), input.option(5) { parameters.clientMaxWindowBits = 9 + input.options >> 6 }
        return parameters
    }

    private static func checkEvents(_ reading: WebSocketReading, _ limit: Int) throws(BrokenProperty) {
        for (number, event) in reading.events.enumerated() {
            switch event {
            case .message(let opcode, let bytes):
                try require(!opcode.isControl && opcode != .continuation, "a message's opcode is \(opcode)")
                try require(bytes.count <= limit, "a message has \(bytes.count) bytes")
                let isText = opcode != .text || String(validating: bytes, as: UTF8.self) != nil
                try require(isText, "text that is no UTF-8")
            case .ping(let bytes), .pong(let bytes):
                try require(bytes.count <= 125, "a control frame has \(bytes.count) bytes")
            case .close(let code, let reason):
                try require(reason.utf8.count <= 123, "a reason has \(reason.utf8.count) bytes")
                try require(code.map { $0 >= 1000 && $0 < 5000 } ?? true, "a close code is \(String(describing: code))")
                try require(number == reading.events.count - 1, "something is read behind a close frame")
                try require(reading.error == nil, "an error behind a close frame")
            }
        }
        try require((reading.error?.reason.utf8.count ?? 0) <= 123, "a reason that fits in no close frame")
    }

    /// Messages that were read are the same after they are written and read again.
    private static func checkRewritten(
        _ reading: WebSocketReading, _ role: WebSocketRole, _ limit: Int
    ) throws(BrokenProperty) {
        var bytes: [UInt8] = []
        for (number, event) in reading.events.enumerated() {
            let byte = UInt8(truncatingIfNeeded: number)
            let mask = role == .server ? WebSocketMask(byte, 0x5A, 0xFF, byte &* 7) : nil
            switch event {
            case .message(let opcode, let payload):
                WebSocketFrameEncoder.encode(opcode, payload, mask: mask, into: &bytes)
            case .ping(let payload): WebSocketFrameEncoder.encode(.ping, payload, mask: mask, into: &bytes)
            case .pong(let payload): WebSocketFrameEncoder.encode(.pong, payload, mask: mask, into: &bytes)
            case .close(let code, let reason):
                let code = code.map(WebSocketCloseCode.init)
                WebSocketFrameEncoder.close(code, reason: reason, mask: mask, into: &bytes)
            }
        }
        let again = WebSocketReading([bytes], role: role, limit: limit, compression: nil)
        try require(again.events == reading.events && again.error == nil, "written anew: \(reading) \(again)")
    }
}
