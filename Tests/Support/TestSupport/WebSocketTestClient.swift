import Foundation
import Wire

/// A WebSocket client that sends anything, valid or not, and reads strictly. It checks handshakes and frames with the
/// client library's parsers, which pass Autobahn.
package actor WebSocketTestClient {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        ClientExecutor.shared.asUnownedSerialExecutor()
    }

    /// The connection, for sending any bytes.
    package nonisolated let connection: RawConnection
    /// The server's answer to the handshake.
    package nonisolated let handshake: TestResponse
    /// Whether `nextMessage` and `expectClose` answer pings. Set it to `false` to simulate a dead peer.
    package var answersPings = true
    /// A longer announced payload is a violation.
    private let maxPayload = 16 << 20
    /// Whether a fragmented message has begun.
    private var isInMessage = false
    /// An endpoint sends one close frame at most (RFC 6455 §5.5.1).
    private var hasSentClose = false
    private let validator: MessageValidation.Validator?
    /// The bytes of an incomplete message, which can't be validated yet.
    private var unvalidated: [UInt8] = []

    private init(connection: RawConnection, handshake: TestResponse, validator: MessageValidation.Validator?) {
        self.connection = connection
        self.handshake = handshake
        self.validator = validator
    }

    package func setAnswersPings(_ answers: Bool) { answersPings = answers }

    // MARK: - Handshake

    /// Upgrades a new connection. Throws `UpgradeRefused` with the response unless the server answers `101`. `headers`
    /// come after the handshake's own fields.
    package static func connect(
        to endpoint: ClientEndpoint, _ target: String, headers: TestHeaders = [:], receiveBuffer: Int32? = nil,
        within allowed: Duration = Deadline.standard
    ) async throws -> WebSocketTestClient {
        let connection = try await RawConnection.connect(
            to: endpoint, receiveBuffer: receiveBuffer, within: allowed)
        return try await upgrade(connection, target, headers: headers, within: allowed)
    }

    /// Upgrades an existing connection.
    package static func upgrade(
        _ connection: RawConnection, _ target: String, headers: TestHeaders = [:],
        within allowed: Duration = Deadline.standard
    ) async throws -> WebSocketTestClient {
        let offered = headers.values(of: "Sec-WebSocket-Protocol").flatMap { $0.split(separator: ",") }
        let handshake = WebSocketClientHandshake(subprotocols: offered.map { String($0.filter { $0 != " " }) })
        var all: TestHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": handshake.key,
        ]
        for field in headers.fields { all.append(field.name, field.value) }
        let http = HTTPTestClient(over: connection)
        try await http.sendRequest("GET", target, headers: all, within: allowed)
        let response = try await http.readResponse(within: allowed)
        guard response.status == 101 else {
            await connection.close()
            throw UpgradeRefused(response: response)
        }
        try check(response, handshake, offered: all)
        return WebSocketTestClient(
            connection: connection, handshake: response, validator: MessageValidation.validator?(target))
    }

    /// Checks that the upgrade is refused. Returns the response.
    package static func refusal(
        at endpoint: ClientEndpoint, _ target: String, headers: TestHeaders = [:],
        within allowed: Duration = Deadline.standard
    ) async throws -> TestResponse {
        do {
            let client = try await connect(to: endpoint, target, headers: headers, within: allowed)
            await client.close()
            throw ClientFailure.violation("\(target) was upgraded, and should have been refused")
        } catch let refused as UpgradeRefused {
            return refused.response
        }
    }

    /// Performs a client's checks of RFC 6455 §4.1. A test that offers an extension checks the answer itself.
    private static func check(
        _ response: TestResponse, _ handshake: WebSocketClientHandshake, offered: TestHeaders
    ) throws(ClientFailure) {
        let fields = response.headers.fields.filter {
            offered["Sec-WebSocket-Extensions"] == nil || $0.name.lowercased() != "sec-websocket-extensions"
        }
        let head = HTTPResponseHead(
            status: .switchingProtocols, fields: fields.map { HTTPField($0.name, $0.value) })
        do { _ = try handshake.accept(head) } catch { throw .violation(error.reason) }
    }

    // MARK: - Sending

    package func send(text: String, within allowed: Duration = Deadline.standard) async throws {
        try await send(TestFrame(.text, text), within: allowed)
    }

    package func send(binary: [UInt8], within allowed: Duration = Deadline.standard) async throws {
        try await send(TestFrame(.binary, binary), within: allowed)
    }

    package func send(json: TestJSON, within allowed: Duration = Deadline.standard) async throws {
        try await send(TestFrame(.text, try json.encoded()), within: allowed)
    }

    package func ping(_ payload: [UInt8] = [], within allowed: Duration = Deadline.standard) async throws {
        try await send(TestFrame(.ping, payload), within: allowed)
    }

    package func pong(_ payload: [UInt8] = [], within allowed: Duration = Deadline.standard) async throws {
        try await send(TestFrame(.pong, payload), within: allowed)
    }

    package func sendClose(_ code: UInt16? = 1000, _ reason: String = "", within allowed: Duration = Deadline.standard)
        async throws
    {
        try await send(.close(code, reason), within: allowed)
    }

    /// Sends a frame, masked with a random key. To send other bytes, use `connection.send(frame.bytes(mask: nil, …))`.
    package func send(_ frame: TestFrame, within allowed: Duration = Deadline.standard) async throws {
        if frame.opcode == .close { hasSentClose = true }
        try await connection.send(frame.bytes(), within: allowed)
    }

    /// Sends one message, with one frame per piece.
    package func send(
        fragments: [[UInt8]], as opcode: TestFrame.Opcode, within allowed: Duration = Deadline.standard
    ) async throws {
        for (index, piece) in fragments.enumerated() {
            let frame = TestFrame(
                index == 0 ? opcode : .continuation, piece, isFinal: index == fragments.count - 1)
            try await send(frame, within: allowed)
        }
    }

    // MARK: - Receiving

    /// Returns the next frame of any kind, after the checks that need no context.
    package func nextFrame(within allowed: Duration = Deadline.standard) async throws -> TestFrame {
        var bytes = try await connection.receiveExactly(2, within: allowed)
        while true {
            if let head = try Self.header(bytes, isInMessage: isInMessage, maxPayload) {
                let payload = try await connection.receiveExactly(head.payloadBytes, within: allowed)
                let frame = TestFrame(TestFrame.Opcode(head.opcode.rawValue), payload, isFinal: head.isFinal)
                if !frame.opcode.isControl {
                    isInMessage = !frame.isFinal
                    show(frame)
                }
                return frame
            }
            bytes += try await connection.receiveExactly(1, within: allowed)
        }
    }

    /// Validates a message when it is complete.
    private func show(_ frame: TestFrame) {
        guard let validator else { return }
        unvalidated += frame.payload
        guard frame.isFinal else { return }
        validator(nil, unvalidated)
        unvalidated = []
    }

    private static func header(
        _ bytes: [UInt8], isInMessage: Bool, _ maxPayload: Int
    ) throws(ClientFailure) -> WebSocketFrameHeader? {
        let rules = WebSocketFrameHeader.Rules(
            role: .client, openMessage: isInMessage ? (bytes: 0, isCompressed: false) : nil,
            maxMessageBytes: maxPayload)
        let header = bytes.withUnsafeBytes { bytes in
            Result { () throws(WebSocketError) in try WebSocketFrameHeader(bytes, rules: rules) }
        }
        switch header {
        case .success(let header): return header
        case .failure(let error): throw .violation("\(error.reason), in a frame of the server")
        }
    }

    /// Returns the next message, assembled from its fragments. Answers pings and skips pongs. Answers a close frame and
    /// throws it as `TestClose`.
    package func nextMessage(within allowed: Duration = Deadline.standard) async throws -> TestMessage {
        var opcode: TestFrame.Opcode?
        var payload: [UInt8] = []
        // One deadline for all frames. Otherwise the server's pings could extend a wait without end.
        let deadline = Deadline(after: allowed)
        while true {
            let frame = try await nextFrame(within: deadline.remaining)
            switch frame.opcode {
            case .ping:
                if answersPings { try await pong(frame.payload, within: allowed) }
            case .pong: break
            case .close: throw try await answer(frame, within: allowed)
            case .continuation: payload += frame.payload
            default:
                opcode = frame.opcode
                payload = frame.payload
            }
            guard frame.isFinal, !frame.opcode.isControl else { continue }
            guard opcode == .text else { return .binary(payload) }
            guard let text = String(validating: payload, as: UTF8.self) else {
                throw ClientFailure.violation("text that is no UTF-8 (RFC 6455 §8.1)")
            }
            return .text(text)
        }
    }

    /// Sends a ping and waits for its pong. Skips pongs with other payloads. A message before the pong is a violation.
    /// So the server has handled everything sent so far, and had no message to send.
    package func expectNothing(within allowed: Duration = Deadline.standard) async throws {
        let mark = TestFrame.randomMask()
        try await ping(mark, within: allowed)
        let deadline = Deadline(after: allowed)
        while true {
            let frame = try await nextFrame(within: deadline.remaining)
            switch frame.opcode {
            case .pong where frame.payload == mark: return
            case .pong: continue
            case .ping:
                if answersPings { try await pong(frame.payload, within: allowed) }
            case .close: throw try await answer(frame, within: allowed)
            default: throw ClientFailure.violation("expected nothing, received \(frame.opcode) \"\(frame.text)\"")
            }
        }
    }

    // MARK: - Closing

    /// Waits for the server's close frame with `code`, answers it, and waits for the end of the connection. Other
    /// messages before it are allowed only if `passingOver` is set. Returns the reason.
    @discardableResult
    package func expectClose(
        _ code: UInt16?, passingOver: Bool = false, within allowed: Duration = Deadline.standard
    ) async throws -> String {
        do {
            while true {
                let message = try await nextMessage(within: allowed)
                guard passingOver else {
                    throw ClientFailure.violation("expected close \(code ?? 0), received \(message)")
                }
            }
        } catch let close as TestClose {
            guard close.code == code else {
                throw ClientFailure.violation("expected close code \(code ?? 0), received \(close)")
            }
            // The server closes the TCP connection first (RFC 6455 §7.1.1).
            try await connection.expectClosed(within: allowed)
            return close.reason
        }
    }

    /// Performs the closing handshake from this side: sends a close frame, and waits for the same code and the end of
    /// the connection. Skips messages before it.
    package func closeHandshake(_ code: UInt16 = 1000, within allowed: Duration = Deadline.standard) async throws {
        try await sendClose(code, within: allowed)
        while true {
            let frame = try await nextFrame(within: allowed)
            guard frame.opcode == .close else { continue }
            let close = try Self.parse(frame)
            guard close.code == code else {
                throw ClientFailure.violation("sent close code \(code), received \(close) (RFC 6455 §5.5.1)")
            }
            break
        }
        try await connection.expectClosed(within: allowed)
        await connection.close()
    }

    /// Ends the TCP connection without a closing handshake.
    package func close() async { await connection.close() }

    /// Echoes the close (RFC 6455 §5.5.1). A server that has already gone needs no echo.
    private func answer(_ frame: TestFrame, within allowed: Duration) async throws -> TestClose {
        let close = try Self.parse(frame)
        guard !hasSentClose else { return close }
        do {
            try await sendClose(close.code, within: allowed)
        } catch ClientFailure.reset {
            return close
        }
        return close
    }

    private static func parse(_ frame: TestFrame) throws(ClientFailure) -> TestClose {
        guard !frame.payload.isEmpty else { return TestClose(code: nil, reason: "") }
        guard frame.payload.count >= 2 else { throw .violation("a close payload of one byte (RFC 6455 §5.5.1)") }
        let code = UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw .violation("close code \(code) on the wire (RFC 6455 §7.4)")
        }
        guard let reason = String(validating: frame.payload[2...], as: UTF8.self) else {
            throw .violation("a close reason that is no UTF-8 (RFC 6455 §5.5.1)")
        }
        return TestClose(code: code, reason: reason)
    }
}
