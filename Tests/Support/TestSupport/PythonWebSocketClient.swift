import Foundation

/// A WebSocket connection of Debian's `python3-websockets`, an independent client. Each is a process that is controlled
/// by lines of JSON.
package actor PythonWebSocketClient {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        ClientExecutor.shared.asUnownedSerialExecutor()
    }

    private static let interpreter = "/usr/bin/python3"

    private let process: ChildProcess
    private let conversation: RawConnection
    private let validator: MessageValidation.Validator?

    private init(process: ChildProcess, conversation: RawConnection, validator: MessageValidation.Validator?) {
        self.process = process
        self.conversation = conversation
        self.validator = validator
    }

    /// Connects, with TLS if an authority is given. `compression` offers permessage-deflate. If the server refuses,
    /// throws `UpgradeRefused` with the status and fields, without the body, which the library drops.
    package static func connect(
        to endpoint: ClientEndpoint, _ target: String, compression: Bool = false,
        trusting authority: TestAuthority? = nil, within allowed: Duration = Deadline.standard
    ) async throws -> PythonWebSocketClient {
        let process = try await ChildProcess.start(
            interpreter, ["-u", "-c", pythonWebSocketScript],
            environment: DaemonProcess.cleanEnvironment().filter { !$0.key.hasPrefix("PYTHON") }, converses: true)
        guard let conversation = process.conversation else { throw ClientFailure.misuse("no conversation") }
        let client = PythonWebSocketClient(
            process: process, conversation: conversation, validator: MessageValidation.validator?(target))
        let path: TestJSON = if case .unix(let path) = endpoint { .string(path) } else { .absent }
        let command: TestJSON = [
            "op": "connect", "uri": .string("\(authority == nil ? "ws" : "wss")://\(endpoint.authority)\(target)"),
            "compression": .bool(compression),
            "unix": path, "authority": authority.map { .string($0.file) } ?? .absent,
        ]
        let answer = try await client.ask(command, within: allowed)
        if let status = answer["refused"].int {
            var headers: TestHeaders = [:]
            for field in answer["headers"].array ?? [] {
                headers.append(field[0].string ?? "", field[1].string ?? "")
            }
            throw UpgradeRefused(
                response: TestResponse(status: status, reason: "", version: "HTTP/1.1", headers: headers))
        }
        return client
    }

    package func send(text: String, within allowed: Duration = Deadline.standard) async throws {
        _ = try await ask(["op": "send", "text": .string(text)], within: allowed)
    }

    package func send(binary: [UInt8], within allowed: Duration = Deadline.standard) async throws {
        _ = try await ask(
            ["op": "send", "binary": .string(Data(binary).base64EncodedString())], within: allowed)
    }

    /// Sends a ping and waits for its pong.
    package func ping(within allowed: Duration = Deadline.standard) async throws {
        _ = try await ask(["op": "ping"], within: allowed)
    }

    /// Returns the next message. Throws `TestClose` if the server closed the connection.
    package func nextMessage(within allowed: Duration = Deadline.standard) async throws -> TestMessage {
        let (seconds, attoseconds) = allowed.components
        // The library itself stops waiting at the limit. So a message that comes later isn't lost with this call.
        let answer = try await ask(
            ["op": "receive", "seconds": .number(Double(seconds) + Double(attoseconds) * 1e-18)],
            within: allowed + .seconds(5))
        if answer["timeout"].bool == true {
            throw ClientFailure.timedOut(waitingFor: "a message", after: allowed, received: "nothing").withEvidence
        }
        if let text = answer["text"].string {
            validator?(nil, Array(text.utf8))
            return .text(text)
        }
        if let binary = answer["binary"].string, let data = Data(base64Encoded: binary) {
            validator?(nil, Array(data))
            return .binary(Array(data))
        }
        throw TestClose(code: answer["closed"].int.map { UInt16($0) }, reason: answer["reason"].string ?? "")
    }

    /// Performs the closing handshake. Returns the server's close frame.
    @discardableResult
    package func close(_ code: UInt16 = 1000, _ reason: String = "", within allowed: Duration = Deadline.standard)
        async throws -> TestClose
    {
        let answer = try await ask(
            ["op": "close", "code": .number(Double(code)), "reason": .string(reason)], within: allowed)
        return TestClose(code: answer["closed"].int.map { UInt16($0) }, reason: answer["reason"].string ?? "")
    }

    /// Ends the process without a closing handshake.
    package func kill() async throws {
        await process.signal(SIGKILL)
        _ = try await process.waitForExit()
    }

    private func ask(_ command: TestJSON, within allowed: Duration) async throws -> TestJSON {
        do {
            try await conversation.send(try command.encoded() + [0x0A], within: allowed)
            let line = try await conversation.receiveUntil("\n", limit: 32 << 20, within: allowed)
            let answer = try TestJSON(parsing: line)
            if let error = answer["error"].string { throw ClientFailure.violation("python3-websockets: \(error)") }
            return answer
        } catch let failure as ClientFailure {
            let lines = process.lines.all.map(\.text)
            if lines.contains(where: { $0.contains("No module named 'websockets'") }) {
                throw ClientFailure.misuse("python3-websockets is missing: apt-get install python3-websockets")
            }
            guard lines.isEmpty else {
                throw ClientFailure.violation("\(failure); the client said \(lines.suffix(10))")
            }
            throw failure
        }
    }
}
