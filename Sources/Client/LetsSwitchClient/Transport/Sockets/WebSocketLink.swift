#if canImport(Glibc)
    import Wire

    /// A link over a WebSocket. It parses and encodes frames, and answers pings and close frames.
    actor WebSocketLink: Link {
        private nonisolated let connection: SocketConnection
        private var parser: WebSocketParser
        private var received: [UInt8]
        /// The number of parsed bytes at the start of `received`. Parsed bytes are removed many at a time, because
        /// moving the remaining bytes after each small frame would be slow.
        private var readCount = 0
        private var hasSentClose = false

        init(_ connection: SocketConnection, received: [UInt8], maxMessageBytes: Int) {
            self.connection = connection
            self.received = received
            parser = WebSocketParser(role: .client, maxMessageBytes: maxMessageBytes)
        }

        func receive() async throws(ClientError) -> LinkEvent {
            while true {
                if let event = try next() { return event }
                guard let bytes = try await connection.receive() else {
                    throw .closed(.lost, reason: "")
                }
                (received, readCount) = (bytes, 0)
            }
        }

        private func next() throws(ClientError) -> LinkEvent? {
            var found: Result<Found?, WebSocketError> = .success(nil)
            let readCount = readCount
            let rest = received.withUnsafeMutableBytes { bytes -> Int in
                var input = UnsafeMutableRawBufferPointer(rebasing: bytes[readCount...])
                found = Result { () throws(WebSocketError) in try parser.next(&input).map(Found.init) }
                return input.count
            }
            self.readCount = received.count - rest
            switch found {
            case .success(nil): return nil
            case .success(.event(let event)?): return event
            case .success(.ping(let payload)?):
                // The socket is dropped when the unsent bytes exceed a limit, so pongs that the server doesn't read
                // can't use more memory.
                if !hasSentClose { connection.sendSoon(Self.frame(.pong, payload)) }
                return .alive
            case .success(.close(let code, let reason)?):
                answerClose(code ?? .normalClosure)
                throw .closed(CloseCode(rawValue: (code ?? .noStatusReceived).rawValue), reason: reason)
            case .failure(let error):
                answerClose(error.code)
                throw .garbled(error.reason)
            }
        }

        private func answerClose(_ code: WebSocketCloseCode) {
            guard !hasSentClose else { return }
            hasSentClose = true
            var bytes: [UInt8] = []
            WebSocketFrameEncoder.close(code, mask: Self.mask(), into: &bytes)
            connection.sendSoon(bytes)
        }

        func send(_ frame: LinkFrame) async throws(ClientError) {
            guard !hasSentClose else { throw .cancelled }
            switch frame {
            case .message(let opcode, let bytes):
                try await connection.send(Self.frame(opcode == .text ? .text : .binary, bytes))
            case .ping(let payload): try await connection.send(Self.frame(.ping, payload))
            case .close(let code): answerClose(WebSocketCloseCode(rawValue: code.rawValue))
            }
        }

        nonisolated func drop() {
            connection.drop()
        }

        private static func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(payload.count + 14)
            WebSocketFrameEncoder.encode(opcode, payload, mask: mask(), into: &bytes)
            return bytes
        }

        /// Returns a new mask for each frame, from the system's secure random source (RFC 6455 §10.3).
        private static func mask() -> WebSocketMask {
            let key = UInt32.random(in: 0 ... .max)
            return WebSocketMask(
                UInt8(truncatingIfNeeded: key), UInt8(truncatingIfNeeded: key >> 8),
                UInt8(truncatingIfNeeded: key >> 16), UInt8(truncatingIfNeeded: key >> 24))
        }

        /// A copy of an event of the parser. The copy doesn't refer to the parser's memory.
        private enum Found {
            case event(LinkEvent)
            case ping([UInt8])
            case close(WebSocketCloseCode?, String)

            init(_ event: WebSocketEvent) {
                switch event {
                case .message(.text, _, let bytes): self = .event(.message(.text, Array(bytes)))
                case .message(_, _, let bytes): self = .event(.message(.binary, Array(bytes)))
                case .fragment: self = .event(.alive)
                case .ping(let bytes): self = .ping(Array(bytes))
                case .pong(let bytes): self = .event(.pong(Array(bytes)))
                case .close(let code, let reason): self = .close(code, reason)
                }
            }
        }
    }
#endif
