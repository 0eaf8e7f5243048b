/// The client's side of the opening handshake (RFC 6455 §4.1). It offers no compression.
package struct WebSocketClientHandshake: Sendable {
    /// `Sec-WebSocket-Key`.
    package let key: String
    private let subprotocols: [String]

    /// - Parameters:
    /// - subprotocols: The offered subprotocols, in order of preference.
    /// - nonce: Sixteen random bytes.
    package init(
        subprotocols: [String] = [], nonce: (UInt64, UInt64) = (.random(in: 0 ... .max), .random(in: 0 ... .max))
    ) {
        self.subprotocols = subprotocols
        key = Base64.encode(withUnsafeBytes(of: nonce) { Array($0) })
    }

    /// Returns the request's bytes.
    ///
    /// - Parameter fields: The client's own fields.
    package func request(_ target: String, host: String, fields: [HTTPField] = []) -> [UInt8] {
        var all = [
            HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
            HTTPField("Sec-WebSocket-Version", "13"), HTTPField("Sec-WebSocket-Key", key),
        ]
        if !subprotocols.isEmpty {
            all.append(HTTPField("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")))
        }
        return HTTPRequestEncoder.encode("GET", target, host: host, fields: all + fields)
    }

    /// The base64 of the SHA-1 of the key and the protocol's own UUID (RFC 6455 §4.2.2).
    package static func acceptValue(forKey key: String) -> String {
        Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// Checks the response. After it, the connection carries frames.
    ///
    /// - Returns: The server's selected subprotocol; `nil` for none.
    package func accept(_ response: HTTPResponseHead) throws(WebSocketAnswerError) -> String? {
        guard response.status == .switchingProtocols else { throw .notSwitching }
        guard response.contains("Upgrade", token: "websocket"), response.contains("Connection", token: "upgrade")
        else { throw .noUpgrade }
        guard let accept = response.value("Sec-WebSocket-Accept"),
            accept.utf8.elementsEqual(Self.acceptValue(forKey: key).utf8)
        else { throw .wrongAccept }
        guard response.values("Sec-WebSocket-Extensions").allSatisfy(\.isEmpty) else { throw .foreignExtension }
        let chosen = response.values("Sec-WebSocket-Protocol")
        guard let first = chosen.first else { return nil }
        guard chosen.count == 1, subprotocols.contains(where: { $0.utf8.elementsEqual(first.utf8) }) else {
            throw .foreignSubprotocol
        }
        return first
    }
}

/// The reason why a response to a handshake is invalid (RFC 6455 §4.1). The client must fail the connection.
package enum WebSocketAnswerError: Error, Hashable, CaseIterable {
    /// Any status except `101`: the server refuses, and its response says why.
    case notSwitching
    /// It switches to another protocol.
    case noUpgrade
    /// `Sec-WebSocket-Accept` doesn't match the key.
    case wrongAccept
    case foreignExtension
    case foreignSubprotocol

    /// The violated rule, with its section.
    package var reason: String {
        switch self {
        case .notSwitching: "RFC 6455 §4.1: the status of a handshake's answer must be 101."
        case .noUpgrade: "RFC 6455 §4.1: the answer must have the fields Upgrade: websocket and Connection: Upgrade."
        case .wrongAccept: "RFC 6455 §4.1: Sec-WebSocket-Accept doesn't match Sec-WebSocket-Key."
        case .foreignExtension: "RFC 6455 §4.1: the server chose an extension that the client didn't offer."
        case .foreignSubprotocol: "RFC 6455 §4.1: the server chose a subprotocol that the client didn't offer."
        }
    }
}
