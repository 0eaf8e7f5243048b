package import Foundation
package import TestSupport

/// A raw Action Cable client. It sends any text and skips pings.
package struct CablePeer: Sendable {
    package let socket: WebSocketTestClient

    package static func connect(
        to endpoint: ClientEndpoint, _ query: String = "", headers: TestHeaders = [:]
    ) async throws -> CablePeer {
        CablePeer(socket: try await WebSocketTestClient.connect(to: endpoint, "/cable\(query)", headers: headers))
    }

    /// Connects, and waits for the welcome.
    package static func welcomed(
        at endpoint: ClientEndpoint, _ query: String = "", headers: TestHeaders = [:]
    ) async throws -> CablePeer {
        let peer = try await connect(to: endpoint, query, headers: headers)
        guard try await peer.receive() == #"{"type":"welcome"}"# else { throw ClientFailure.violation("no welcome") }
        return peer
    }

    /// Returns the next message that isn't a ping, as text.
    package func receive(within allowed: Duration = Deadline.standard) async throws -> String {
        // Pings never end, so the limit is for all of them together.
        let end = ContinuousClock.now + allowed
        while true {
            guard case .text(let text) = try await socket.nextMessage(within: max(.zero, end - .now)) else {
                throw ClientFailure.violation("a message that isn't text")
            }
            if !text.hasPrefix(#"{"type":"ping","message":"#) { return text }
        }
    }

    /// Returns the type and data of an identifier's next message.
    package func receiveMessage(of identifier: String) async throws -> (type: String?, data: TestJSON) {
        let message = try TestJSON(parsing: Array(try await receive().utf8))
        guard message["identifier"].string == identifier, message.object?.count == 2 else {
            throw ClientFailure.violation("\(message), not a message for \(identifier)")
        }
        return (message["message"]["type"].string, message["message"]["data"])
    }

    /// Checks that the server has handled everything sent so far and sent nothing except pings.
    package func expectNothing() async throws {
        // The rejection of this command comes after all earlier messages.
        let probe = #"{"channel":"Probe \#(UUID().uuidString)"}"#
        try await subscribe(probe)
        let text = try await receive()
        guard text == Self.rejection(probe) else { throw ClientFailure.violation("expected nothing, received \(text)") }
    }

    // MARK: Sending

    package func subscribe(_ identifier: String) async throws {
        try await socket.send(text: Self.command("subscribe", identifier))
    }

    /// Subscribes, and waits for the confirmation.
    package func enter(_ identifier: String) async throws {
        try await subscribe(identifier)
        let text = try await receive()
        guard text == Self.confirmation(identifier) else {
            throw ClientFailure.violation("expected a confirmation, received \(text)")
        }
    }

    package func unsubscribe(_ identifier: String) async throws {
        try await socket.send(text: Self.command("unsubscribe", identifier))
    }

    package func perform(_ action: String, _ identifier: String) async throws {
        try await socket.send(text: Self.message(#"{"action":"\#(action)"}"#, identifier))
    }

    /// Performs an action with further members.
    package func perform(_ data: TestJSON, _ identifier: String) async throws {
        try await socket.send(text: Self.message(String(decoding: try data.encoded(), as: UTF8.self), identifier))
    }

    // MARK: Messages

    package static func room(_ id: UUID, _ more: String = "") -> String {
        #"{"channel":"RoomChannel","id":"\#(id.uuidString)"\#(more)}"#
    }

    package static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    package static func command(_ name: String, _ identifier: String) -> String {
        #"{"command":"\#(name)","identifier":\#(quoted(identifier))}"#
    }

    package static func message(_ data: String, _ identifier: String) -> String {
        #"{"command":"message","identifier":\#(quoted(identifier)),"data":\#(quoted(data))}"#
    }

    package static func confirmation(_ identifier: String) -> String {
        #"{"identifier":\#(quoted(identifier)),"type":"confirm_subscription"}"#
    }

    package static func rejection(_ identifier: String) -> String {
        #"{"identifier":\#(quoted(identifier)),"type":"reject_subscription"}"#
    }

    package static func ale(_ identifier: String) -> String {
        #"{"identifier":\#(quoted(identifier)),"message":{"type":"aleResponse","data":{}}}"#
    }

    package static func disconnect(_ reason: String, reconnect: Bool = false) -> String {
        #"{"type":"disconnect","reason":"\#(reason)","reconnect":\#(reconnect)}"#
    }
}
