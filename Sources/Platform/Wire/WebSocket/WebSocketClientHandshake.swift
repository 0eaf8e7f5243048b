/// The client's side of the opening handshake (RFC 6455 §4.1). It offers no compression.
package struct WebSocketClientHandshake: Sendable {
    /// The value of `Sec-WebSocket-Key`.
    package let key: String
    private let subprotocols: [String]

    /// - Parameters:
    ///   - subprotocols: The offered subprotocols, in order of preference.
    ///   - nonce: Sixteen random bytes.
    package init(
        subprotocols: [String] = [], nonce: (UInt64, UInt64) = (.random(in: 0 ... .max), .random(in: 0 ... .max))
    ) {
        self.subprotocols = subprotocols
        key = Base64.encode(withUnsafeBytes(of: nonce) { Array($0) })
    }

    /// Returns the bytes of the request.
    ///
    /// - Parameter fields: Further header fields of the client.
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

    /// Returns the base64 of the SHA-1 of the key and the UUID that the protocol defines (RFC 6455 §4.2.2).
    package static func acceptValue(forKey key: String) -> String {
        Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    /// Checks the response. After a valid response, the connection carries frames.
    ///
    /// - Returns: The subprotocol that the server selected, or `nil` if it selected none.
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
    /// The status isn't `101`. The server refuses, and the response contains the reason.
    case notSwitching
    /// The server switches to another protocol.
    case noUpgrade
    /// `Sec-WebSocket-Accept` doesn't match the key.
    case wrongAccept
    case foreignExtension
    case foreignSubprotocol

    /// The violated rule, with the section of the RFC.
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
