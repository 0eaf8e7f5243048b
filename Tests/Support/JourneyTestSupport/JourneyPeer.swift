package import TestSupport

/// A WebSocket in a room, with any of the client libraries.
package protocol JourneyPeer: Sendable {
    func send(_ text: String) async throws
    func send(_ binary: [UInt8]) async throws
    func receive() async throws -> TestMessage
    /// Checks that the server has handled all messages of this peer and has sent nothing to it.
    func expectNothing() async throws
    /// Returns how the server closed the connection.
    func end() async throws -> TestClose
}

extension WebSocketTestClient: JourneyPeer {
    package func send(_ text: String) async throws { try await send(text: text) }
    package func send(_ binary: [UInt8]) async throws { try await send(binary: binary) }
    package func receive() async throws -> TestMessage { try await nextMessage() }
    package func expectNothing() async throws { try await expectNothing(within: Deadline.standard) }

    package func end() async throws -> TestClose {
        do {
            throw ClientFailure.violation("expected a close, received \(try await nextMessage())")
        } catch let close as TestClose {
            return close
        }
    }
}

extension PythonWebSocketClient: JourneyPeer {
    package func send(_ text: String) async throws { try await send(text: text) }
    package func send(_ binary: [UInt8]) async throws { try await send(binary: binary) }
    package func receive() async throws -> TestMessage { try await nextMessage() }

    package func expectNothing() async throws {
        // The pong comes after all earlier messages, which the library keeps.
        try await ping()
        do {
            throw ClientFailure.violation(
                "expected nothing, received \(try await nextMessage(within: .milliseconds(1)))")
        } catch ClientFailure.timedOut {
            return
        }
    }

    package func end() async throws -> TestClose {
        do {
            throw ClientFailure.violation("expected a close, received \(try await nextMessage())")
        } catch let close as TestClose {
            return close
        }
    }
}

/// The implementation of the WebSocket client.
package enum ClientLibrary: CaseIterable {
    case own, python

    package func enter(_ target: String, at endpoint: ClientEndpoint) async throws -> any JourneyPeer {
        switch self {
        case .own: try await WebSocketTestClient.connect(to: endpoint, target)
        case .python: try await PythonWebSocketClient.connect(to: endpoint, target)
        }
    }

    /// Returns the answer to a refused upgrade.
    package func refusal(_ target: String, at endpoint: ClientEndpoint) async throws -> TestResponse {
        do {
            _ = try await enter(target, at: endpoint)
            throw ClientFailure.violation("\(target) was upgraded, and should have been refused")
        } catch let refused as UpgradeRefused {
            return refused.response
        }
    }
}
