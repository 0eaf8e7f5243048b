/// A message of an Action Cable server: an object without white space. Its JSON members have the order that clients
/// expect.
package enum CableMessage: Sendable, Equatable {
    case welcome
    /// A ping with the time in seconds since 1970.
    case ping(Int)
    case confirmation(CableIdentifier)
    case rejection(CableIdentifier)
    case message(CableIdentifier, CableContent)
    /// Extended protocol: a welcome with the session's name and the subscriptions that were restored.
    case session(String, restored: [CableIdentifier])
    /// Extended protocol: a message of a stored stream.
    case kept(CableIdentifier, CableContent, CablePosition)
    /// Extended protocol: the missed messages were sent.
    case historyConfirmation(CableIdentifier)
    /// Extended protocol: missed messages aren't available.
    case historyRejection(CableIdentifier)
    /// Extended protocol: the subscribers that are present.
    case presence(CableIdentifier, CablePresence)
    case disconnect(CableDisconnect)

    /// Appends the object to `buffer`.
    package func encode(into buffer: inout [UInt8]) {
        switch self {
        case .welcome: buffer.append(contentsOf: #"{"type":"welcome"}"#.utf8)
        case .ping(let seconds): buffer.append(contentsOf: #"{"type":"ping","message":\#(seconds)}"#.utf8)
        case .confirmation(let identifier): Self.answer("confirm_subscription", to: identifier, into: &buffer)
        case .rejection(let identifier): Self.answer("reject_subscription", to: identifier, into: &buffer)
        case .message(let identifier, let content):
            Self.begin(identifier, into: &buffer)
            buffer.append(contentsOf: #","message":"#.utf8)
            buffer.append(contentsOf: content.json)
            buffer.append(UInt8(ascii: "}"))
        case .session(let name, let restored): Self.session(name, restored, into: &buffer)
        case .kept(let identifier, let content, let position):
            Self.begin(identifier, into: &buffer)
            buffer.append(contentsOf: #","message":"#.utf8)
            buffer.append(contentsOf: content.json)
            buffer.append(contentsOf: #","stream_id":"#.utf8)
            JSONText.append(string: position.stream.utf8, to: &buffer)
            buffer.append(contentsOf: #","epoch":"#.utf8)
            JSONText.append(string: position.epoch.utf8, to: &buffer)
            buffer.append(contentsOf: #","offset":\#(position.offset)}"#.utf8)
        case .historyConfirmation(let identifier): Self.answer("confirm_history", to: identifier, into: &buffer)
        case .historyRejection(let identifier): Self.answer("reject_history", to: identifier, into: &buffer)
        case .presence(let identifier, let presence):
            Self.begin(identifier, into: &buffer)
            buffer.append(contentsOf: #","type":"presence","message":"#.utf8)
            buffer.append(contentsOf: presence.json)
            buffer.append(UInt8(ascii: "}"))
        case .disconnect(let reason):
            buffer.append(
                contentsOf:
                    #"{"type":"disconnect","reason":"\#(reason.rawValue)","reconnect":\#(reason.mayReconnect)}"#.utf8)
        }
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return bytes
    }

    private static func session(_ name: String, _ restored: [CableIdentifier], into buffer: inout [UInt8]) {
        buffer.append(contentsOf: #"{"type":"welcome","sid":"#.utf8)
        JSONText.append(string: name.utf8, to: &buffer)
        if !restored.isEmpty {
            buffer.append(contentsOf: #","restored":true,"restored_ids":["#.utf8)
            for (place, identifier) in restored.enumerated() {
                if place > 0 { buffer.append(UInt8(ascii: ",")) }
                JSONText.append(string: identifier.bytes, to: &buffer)
            }
            buffer.append(UInt8(ascii: "]"))
        }
        buffer.append(UInt8(ascii: "}"))
    }

    private static func answer(_ type: String, to identifier: CableIdentifier, into buffer: inout [UInt8]) {
        begin(identifier, into: &buffer)
        buffer.append(contentsOf: #","type":"\#(type)"}"#.utf8)
    }

    private static func begin(_ identifier: CableIdentifier, into buffer: inout [UInt8]) {
        buffer.append(contentsOf: #"{"identifier":"#.utf8)
        JSONText.append(string: identifier.bytes, to: &buffer)
    }
}

/// The content of a message to a subscription: an object with `type` and `data`. The content is encoded only once for
/// all identifiers.
package struct CableContent: Sendable, Hashable {
    package static let emptyObject = Array("{}".utf8)

    /// The text of the whole object.
    package let json: [UInt8]

    /// - Parameter data: A JSON text.
    package init(_ type: String, data: [UInt8] = emptyObject) {
        var json = Array(#"{"type":"#.utf8)
        JSONText.append(string: type.utf8, to: &json)
        json.append(contentsOf: #","data":"#.utf8)
        json.append(contentsOf: data)
        json.append(UInt8(ascii: "}"))
        self.json = json
    }

    package init(_ type: String, data: (inout JSONText) -> Void) {
        var text = JSONText()
        text.object(data)
        self.init(type, data: text.bytes)
    }

    /// Returns the answer to an action that failed.
    package static func error(_ code: String, _ reason: String) -> CableContent {
        CableContent("error") { data in
            data.member("code", code)
            data.member("reason", reason)
        }
    }
}

/// The reason why a server closes a connection. Clients reconnect only if the reason permits it.
package enum CableDisconnect: String, Sendable, CaseIterable {
    case unauthorized
    case tokenExpired = "token_expired"
    case invalidRequest = "invalid_request"
    case serverRestart = "server_restart"
    /// An operator closed the connection, or the device was erased.
    case remote

    package var mayReconnect: Bool { self == .serverRestart }
}
